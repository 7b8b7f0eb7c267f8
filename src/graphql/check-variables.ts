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
  valueFromAST,
  valueFromASTUntyped,
} from 'graphql';
import { invalidField, ServiceError } from '../errors/error-table.ts';
import { inexactNumberMessage, isInexactMember } from '../json/exact-numbers.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { faultsError, fieldName, ruleFaults, valueAt, type ValueFault } from '../errors/faults.ts';
import { coerceWhereItFits, withLists } from './coerce-input.ts';
import { maxVariableFaults } from './limits.ts';
import {
  argumentRule,
  type OperationPlan,
  sentValue,
  type VariableArgument,
  type Variables,
} from './operation-plan.ts';

/** Either the coerced variables of an operation, or the error about invalid variables. */
type CheckedVariables = { coerced: Variables; fault?: undefined } | { fault: ServiceError };

/**
 * Checks whether the values of an operation's variables fit their types in the schema. If at least one value does not
 * fit its type, the error describes the faults of all variables. A fault is either a value that does not fit its type,
 * or a value that violates the validation rule of an argument. If the value of a field has both faults, the error
 * reports only the violated rule for this field. The error still reports the faults of all other fields. Like a
 * resolver, a validation rule receives the coerced value: for an enum argument, the rule receives the internal value of
 * the enum.
 *
 * @returns the coerced variables when all values fit their types, otherwise the error `VALIDATION_ERROR`
 */
export async function checkVariables(
  schema: GraphQLSchema,
  plan: OperationPlan,
  variables: Variables,
): Promise<CheckedVariables> {
  const faults: ValueFault[] = [];
  const faultsOfFitting: (() => Promise<ValueFault[]>)[] = [];
  const coerced = new Map<string, unknown>();
  for (const definition of plan.operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = sentValue(variables, name);
    if (!type || !isInputType(type)) continue;
    if (value === undefined && definition.defaultValue) {
      coerced.set(name, valueFromAST(definition.defaultValue, type));
      continue;
    }
    const guarded = plan.variableArguments.filter(
      ({ variable, argument }) => variable === name && argumentRule(argument),
    );
    const fitting = await fit(value, type);
    if (fitting) {
      if (value !== undefined) coerced.set(name, fitting.value);
      // Like Pothos, `checkVariables` applies no validation rule to a missing value.
      if (value !== undefined && value !== null) faultsOfFitting.push(() => firstBroken(guarded, value));
      continue;
    }
    try {
      const typeFaults = await faultsOfType(guarded[0]?.argument.name ?? name, value, type);
      const broken = await firstBroken(guarded, value);
      const named = new Set(broken.map(({ field }) => field));
      faults.push(...broken, ...typeFaults.filter(({ field }) => !named.has(field)));
    } catch (error) {
      if (error instanceof ServiceError) return { fault: error };
      throw error;
    }
  }
  if (faults.length === 0) return { coerced: Object.fromEntries(coerced) };
  for (const faultsOf of faultsOfFitting) faults.push(...(await faultsOf()));
  return { fault: faultsError(faults) };
}

/** Runs the validation rules one after the other, and returns the faults of the first rule that reports any faults. */
async function firstBroken(guarded: readonly VariableArgument[], value: unknown): Promise<ValueFault[]> {
  for (const { argument } of guarded) {
    const faults = await argumentFaults(argument, value);
    if (faults.length > 0) return faults;
  }
  return [];
}

/**
 * Coerces a value to a GraphQL input type, in the same way as GraphQL. Returns `undefined` for a value that does not
 * fit the type.
 */
async function fit(value: unknown, type: GraphQLInputType): Promise<{ value: unknown } | undefined> {
  try {
    return {
      value: await coerceInParts(value, type, () => {
        throw misfit;
      }),
    };
  } catch (error) {
    if (error !== misfit) throw error;
    return undefined;
  }
}

const misfit = new Error('The value does not fit its type');

/**
 * Returns a list of the reasons why a value does not fit its type in the schema.
 *
 * @param name the name of the variable or field, for the error message
 * @throws {ServiceError} `VALIDATION_ERROR` when the value has too many faults (`maxVariableFaults`)
 */
async function faultsOfType(name: string, value: unknown, type: GraphQLInputType): Promise<ValueFault[]> {
  const faults: ValueFault[] = [];
  await coerceInParts(withLists(value, type), type, (path, invalidValue, { message: words }) => {
    const reason = words.slice(0, maxReasonCharacters);
    if (faults.length === maxVariableFaults) {
      const message = `${reason} It is one of more than ${faults.length} faults.`;
      throw invalidField(fieldName([name, ...path]), message, invalidValue);
    }
    // The regular expression reads the name of a missing or unknown field from the error message, because graphql-js
    // gives this name nowhere else.
    const [, named, what] = /^Field "([^"]+)" (of required type|is not defined)/.exec(reason) ?? [];
    const wrong = named === undefined ? invalidValue : valueAt(invalidValue, [named]);
    const isMissing = (wrong === undefined || wrong === null) && what !== 'is not defined';
    const field = fieldName([name, ...path, ...(named === undefined ? [] : [named])]);
    faults.push({ field, message: isMissing ? `Missing required field: ${field}` : reason, value: wrong });
  });
  return faults;
}

/**
 * The maximum length of an error message about one invalid variable, in characters. The gateway shortens an error
 * message that exceeds this length. The messages of graphql-js repeat names from the request, and these names can be
 * very long.
 */
const maxReasonCharacters = 500;

/** The number of list items that are checked before the process yields to the event loop. */
const itemsPerYield = 500;

/** Coerces a GraphQL value as graphql-js does, but yields to the event loop between the parts of a long list. */
async function coerceInParts(
  value: unknown,
  type: GraphQLInputType,
  note: (path: readonly (string | number)[], invalidValue: unknown, error: GraphQLError) => void,
): Promise<unknown> {
  const listType = getNullableType(type);
  if (!isListType(listType) || !Array.isArray(value)) return coerceInputValue(value, type, note);
  const items: unknown[] = [];
  for (const [index, item] of value.entries()) {
    if (index % itemsPerYield === itemsPerYield - 1) await yieldToEventLoop();
    items.push(coerceInputValue(item, listType.ofType, (path, ...fault) => note([index, ...path], ...fault)));
  }
  return items;
}

/**
 * Rejects a variable with the value null if the document uses the variable where the GraphQL schema requires a value.
 * GraphQL itself accepts a nullable variable where a value is required, if the variable has a default value.
 *
 * @throws {ServiceError} `VALIDATION_ERROR`
 */
export function requireValues(
  { requiredVariables, variableArguments }: OperationPlan,
  variables: Variables,
): void {
  for (const name of requiredVariables) {
    if (sentValue(variables, name) === null) {
      const field = variableArguments.find(({ variable }) => variable === name)?.argument.name ?? name;
      throw invalidField(field, `Missing required field: ${field}`, null);
    }
  }
}

/**
 * Some variables of a GraphQL document are inside an object literal for a JSON value, such as the company settings.
 * This function checks the numbers in these variables. The validation rule of the JSON value cannot check the exactness
 * of a number, because it receives only the parsed number and not the digits that the client sent.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when the gateway could not store a number exactly
 */
export function requireExactVariables({ literalVariables }: OperationPlan, variables: Variables): void {
  for (const [name, { literal, field, inexactDefault }] of literalVariables) {
    const isSent = Object.hasOwn(variables, name);
    if (isSent ? !isInexactMember(variables, name) : !inexactDefault) continue;
    const value = isSent ? variables[name] : valueFromASTUntyped(inexactDefault!);
    throw invalidField(
      field,
      inexactNumberMessage,
      valueFromASTUntyped(literal, { ...variables, [name]: value }),
    );
  }
}

/**
 * Rewrites a validation error of an argument. The new error quotes the value that the client sent. The original error
 * from Pothos quotes the coerced value: for a date that the client sent as a string, it quotes a JavaScript Date. The
 * original error from Pothos also reports only the first invalid argument of a field. The new error reports all invalid
 * arguments of the field. If an error does not come from the validation rule of an argument, `asSent` returns the error
 * unchanged.
 */
export async function asSent(
  error: ServiceError,
  { variableArguments }: OperationPlan,
  variables: Variables,
): Promise<ServiceError> {
  const [responseKey, ...deeper] = error.path ?? [];
  if (error.code !== 'VALIDATION_ERROR' || !error.details || deeper.length > 0) return error;
  const faultsOfArguments = await Promise.all(
    variableArguments
      .filter((variableArgument) => variableArgument.responseKey === responseKey)
      .map(({ argument, variable }) => ({ argument, value: sentValue(variables, variable) }))
      // Pothos applies no validation rule to a missing value, so `asSent` also ignores missing values.
      .filter(({ value }) => value !== undefined && value !== null)
      .map(({ argument, value }) => argumentFaults(argument, value)),
  );
  const named = faultsOfArguments.find(([first]) => first?.field === error.details?.field);
  if (!named) return error;
  const others = faultsOfArguments.filter((faults) => faults !== named);
  const { code, message, details } = faultsError([...named, ...others.flat()]);
  return new ServiceError(code, message, details, error);
}

/**
 * Uses the validation rule of a GraphQL argument to validate the value that a client sent for this argument. Returns an
 * empty list of faults for a valid value, and for an argument without a validation rule.
 */
const argumentFaults = (argument: GraphQLArgument, value: unknown) =>
  brokenRule(argument, coerceWhereItFits(value, argument.type), withLists(value, argument.type));

/**
 * Uses the validation rule of a GraphQL argument to validate the coerced value of this argument.
 *
 * @param sent the value that the client sent. The returned faults quote `sent` instead of the coerced value
 * @returns a list of faults, which is empty when the argument has no validation rule or the value is valid
 */
export async function brokenRule(
  argument: GraphQLArgument,
  value: unknown,
  sent: unknown,
): Promise<ValueFault[]> {
  const result = await argumentRule(argument)?.['~standard'].validate(value);
  const issues = (result?.issues ?? []).map((issue) => ({
    ...issue,
    path: [argument.name, ...(issue.path ?? [])],
  }));
  return ruleFaults(issues, { [argument.name]: sent });
}
