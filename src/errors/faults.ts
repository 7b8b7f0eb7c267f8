import type { StandardSchemaV1 } from '@pothos/plugin-validation';
import { z } from 'zod';
import { type FieldFault, ServiceError, shown } from './error-table.ts';

/** An invalid field, with the value that the client sent. */
export type ValueFault = FieldFault & { value: unknown };

/**
 * Returns the invalid fields of an input, with at most one message for each field.
 *
 * @param issues the issues that a Zod rule reported
 * @param input the value from the client that the Zod rule rejected
 */
export function ruleFaults(issues: readonly StandardSchemaV1.Issue[], input: unknown): ValueFault[] {
  const faults = new Map<string, ValueFault>();
  for (const issue of issues) {
    const path = (issue.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment));
    const field = fieldName(path);
    if (faults.has(field)) continue;
    const value = valueAt(input, path);
    faults.set(field, { field, value, message: faultMessage(issue, field, value) });
  }
  return [...faults.values()];
}

/** Converts the validation issues that Zod reported to a `VALIDATION_ERROR` (see `ruleFaults`). */
export const validationError = (issues: readonly StandardSchemaV1.Issue[], input: unknown): ServiceError =>
  faultsError(ruleFaults(issues, input));

/**
 * Returns the `VALIDATION_ERROR` for several invalid fields. In the details of the error, `field` and `value` describe
 * the first invalid field, and `errors` lists all invalid fields (docs/contract.md#error-body).
 */
export function faultsError(faults: readonly ValueFault[]): ServiceError {
  const [first] = faults;
  if (!first) throw new TypeError('A validation error needs a fault');
  if (first.field === '') return new ServiceError('VALIDATION_ERROR', first.message);
  return new ServiceError('VALIDATION_ERROR', first.message, {
    field: first.field,
    value: shown(first.value),
    errors: faults.map(({ field, message }) => ({ field, message })),
  });
}

/**
 * Validates a value with a Zod rule and returns the parsed value.
 *
 * @throws {ServiceError} `VALIDATION_ERROR`
 */
export function parseInput<Rule extends z.ZodType>(rule: Rule, input: unknown): z.output<Rule> {
  const parsed = rule.safeParse(input);
  if (!parsed.success) throw validationError(parsed.error.issues, input);
  return parsed.data;
}

/** The names of GraphQL arguments, such as `input`, whose fields a REST client sends directly in the request body. */
const wrappers = new Set<PropertyKey>(['input', 'plate']);

/**
 * Converts the path of an input field to the field name in error responses, for example to `settings.name`. The
 * returned field name does not begin with a GraphQL argument such as `input`, because a REST body has no arguments.
 */
export function fieldName(path: readonly PropertyKey[]): string {
  const [first, ...rest] = path;
  const named = rest.length > 0 && first !== undefined && wrappers.has(first) ? rest : path;
  return named.map(String).join('.');
}

/** Returns the value at a path in the client's input, or undefined when the input has no value there. */
export function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    input,
  );
}

function faultMessage(issue: StandardSchemaV1.Issue, field: string, value: unknown): string {
  const { code, expected } = issue as { code?: string; expected?: string };
  if (code !== 'invalid_type') return issue.message;
  if (field === '') return 'Request body must be a JSON object';
  if (value === undefined || value === null) return `Missing required field: ${field}`;
  return `Invalid type for ${field}: expected ${expected}`;
}
