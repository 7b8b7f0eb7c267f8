import type { StandardSchemaV1 } from '@pothos/plugin-validation';
import { z } from 'zod';
import { type FieldFault, ServiceError, shown } from './error-table.ts';

/**
 * Turns the issues of a rule into the service's `VALIDATION_ERROR`: the first fault in `field` and
 * `value`, one fault for each faulty field in `errors` (decisions, "several faults at once").
 *
 * @param issues what a Zod rule reported, in the order of its fields
 * @param input what the rule was given; paths of the issues lead into it
 */
export function validationError(issues: readonly StandardSchemaV1.Issue[], input: unknown): ServiceError {
  const faults = new Map<string, FieldFault & { value: unknown }>();
  for (const issue of issues) {
    const path = (issue.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment));
    const field = fieldName(path);
    if (faults.has(field)) continue;
    const value = valueAt(input, path);
    faults.set(field, { field, value, message: faultMessage(issue, field, value) });
  }
  const [first] = faults.values();
  if (!first) throw new TypeError('A failed rule names no issue');
  if (first.field === '') return new ServiceError('VALIDATION_ERROR', first.message);
  return new ServiceError('VALIDATION_ERROR', first.message, {
    field: first.field,
    value: shown(first.value),
    errors: [...faults.values()].map(({ field, message }) => ({ field, message })),
  });
}

/**
 * Checks a value by a rule and returns what the rule makes of it.
 *
 * @throws {ServiceError} `VALIDATION_ERROR`
 */
export function parseInput<Rule extends z.ZodType>(rule: Rule, input: unknown): z.output<Rule> {
  const parsed = rule.safeParse(input);
  if (!parsed.success) throw validationError(parsed.error.issues, input);
  return parsed.data;
}

/** Arguments that only wrap the fields of a REST body; a client knows the fields alone. */
const wrappers = new Set<PropertyKey>(['input', 'plate']);

/** What a client calls the field at a path: without the argument that wraps a REST body. */
export function fieldName(path: readonly PropertyKey[]): string {
  const [first, ...rest] = path;
  const named = rest.length > 0 && first !== undefined && wrappers.has(first) ? rest : path;
  return named.map(String).join('.');
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
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
