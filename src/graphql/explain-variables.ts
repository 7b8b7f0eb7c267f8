import {
  coerceInputValue,
  getNullableType,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  isListType,
  typeFromAST,
} from 'graphql';
import { type FieldFault, invalidField, ServiceError, shown } from '../errors/error-table.ts';
import { freeMoment } from '../free-moment.ts';
import { fieldName, validationError } from '../errors/faults.ts';
import { maxVariableFaults } from './limits.ts';
import { argumentRule, type OperationPlan, type Variables } from './operation-plan.ts';

/**
 * Why variables do not fit their operation, in the service's words: by the rules of the arguments that
 * they are given to, which name the field, or else by the types of the schema.
 *
 * @returns `VALIDATION_ERROR`, or undefined when the variables do fit
 */
export async function explainVariables(
  schema: GraphQLSchema,
  plan: OperationPlan,
  variables: Variables,
): Promise<ServiceError | undefined> {
  const faults: FieldFault[] = [];
  let firstValue: unknown;
  for (const definition of plan.operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = valueOf(variables, name);
    if (!type || !isInputType(type) || (value === undefined && definition.defaultValue)) continue;
    let fits = true;
    const note = (
      path: readonly (string | number)[],
      invalidValue: unknown,
      { message: words }: GraphQLError,
    ) => {
      const reason = words.slice(0, maxReasonCharacters);
      fits = false;
      if (faults.length === maxVariableFaults) {
        const message = `${reason} It is one of more than ${faults.length} faults.`;
        throw invalidField(fieldName([name, ...path]), message, invalidValue);
      }
      // graphql-js names a missing field in its words alone.
      const [, absent] = /^Field "(\w+)" of required type/.exec(reason) ?? [];
      const field = fieldName([name, ...path, ...(absent ? [absent] : [])]);
      const missing = absent !== undefined || invalidValue === undefined || invalidValue === null;
      if (faults.length === 0) firstValue = missing ? undefined : invalidValue;
      faults.push({ field, message: missing ? `Missing required field: ${field}` : reason });
    };
    try {
      await coerceInParts(value, type, note);
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
    if (fits) continue;
    for (const candidate of plan.variableArguments) {
      const broken = candidate.variable === name && (await brokenRule(candidate.argument, value));
      if (broken) return broken;
    }
  }
  const [first] = faults;
  return (
    first &&
    new ServiceError('VALIDATION_ERROR', first.message, {
      field: first.field,
      value: shown(firstValue),
      errors: faults,
    })
  );
}

/** Characters of what graphql-js says of a fault: it repeats names that a client made up. */
const maxReasonCharacters = 500;

/** Items of a list that are checked before other requests have their turn. */
const itemsPerTurn = 500;

/** Coerces a value as graphql-js does, a long list part by part. */
async function coerceInParts(
  value: unknown,
  type: GraphQLInputType,
  note: (path: readonly (string | number)[], invalidValue: unknown, error: GraphQLError) => void,
): Promise<void> {
  const listType = getNullableType(type);
  if (!isListType(listType) || !Array.isArray(value)) return void coerceInputValue(value, type, note);
  for (const [index, item] of value.entries()) {
    if (index % itemsPerTurn === itemsPerTurn - 1) await freeMoment();
    coerceInputValue(item, listType.ofType, (path, ...fault) => note([index, ...path], ...fault));
  }
}

/**
 * Lets variables pass that are not null where a field requires a value, which the types of variables with a default
 * do not say.
 *
 * @throws {ServiceError} `VALIDATION_ERROR`
 */
export function requireValues({ requiredVariables }: OperationPlan, variables: Variables): void {
  for (const name of requiredVariables) {
    if (Object.hasOwn(variables, name) && variables[name] === null) {
      throw invalidField(name, `Missing required field: ${name}`, null);
    }
  }
}

/**
 * An error of an argument's rule with the value as the client sent it: the rule saw what the types of the
 * schema had made of it, such as a Date. Any other error as it is.
 */
export async function asSent(
  error: ServiceError,
  { variableArguments }: OperationPlan,
  variables: Variables,
): Promise<ServiceError> {
  const [responseKey, ...deeper] = error.path ?? [];
  if (error.code !== 'VALIDATION_ERROR' || !error.details || deeper.length > 0) return error;
  for (const candidate of variableArguments) {
    if (candidate.responseKey !== responseKey) continue;
    const broken = await brokenRule(candidate.argument, valueOf(variables, candidate.variable));
    if (broken && broken.details?.field === error.details.field) {
      return new ServiceError(broken.code, broken.message, broken.details, error);
    }
  }
  return error;
}

/**
 * What the rule of an argument says of a value.
 *
 * @returns `VALIDATION_ERROR`, or undefined when there is no rule or the value keeps it
 */
export async function brokenRule(
  argument: GraphQLArgument,
  value: unknown,
): Promise<ServiceError | undefined> {
  const result = await argumentRule(argument)?.['~standard'].validate(value);
  if (!result?.issues) return undefined;
  const issues = result.issues.map((issue) => ({ ...issue, path: [argument.name, ...(issue.path ?? [])] }));
  return validationError(issues, { [argument.name]: value });
}

const valueOf = (variables: Variables, name: string) =>
  Object.hasOwn(variables, name) ? variables[name] : undefined;
