import {
  type GraphQLArgument,
  type GraphQLField,
  getNamedType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationTypeNode,
} from 'graphql';
import { examples } from '../../rest/openapi-text.ts';
import { addresses, linkTo } from '../layout.tsx';

/** An example operation that a reader can open in the explorer. */
export interface ExampleOperation {
  query: string;
  variables: Record<string, unknown>;
}

/** Returns the address that opens an operation in the explorer. */
export function explorerLink({ query, variables }: ExampleOperation): string {
  const parameters = new URLSearchParams({ query });
  if (Object.keys(variables).length > 0) parameters.set('variables', JSON.stringify(variables));
  return `${linkTo(addresses.explorer)}?${parameters}`;
}

/**
 * The maximum depth of an example operation, in levels of fields. With three levels, an example can show a list, the
 * items of the list, and one object in each item.
 */
const deepestSelection = 3;

const takesNothing = (field: GraphQLField<unknown, unknown>) =>
  !field.args.some((argument) => isNonNullType(argument.type) && argument.defaultValue === undefined);

/**
 * Returns those fields of a GraphQL type that an example operation selects. If the type is a connection, an example
 * operation selects `nodes` and `pageInfo`. For any other GraphQL type, an example operation selects the scalar fields,
 * the enum fields, and the object fields whose type is in `ownedTypes`.
 */
function selectionOf(type: GraphQLOutputType, indent: string, depth = 1): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).filter(takesNothing);
  const isConnection = named.name.endsWith('Connection');
  const chosen = fields.filter((field) => {
    if (isConnection) return field.name === 'nodes' || field.name === 'pageInfo';
    return isLeafType(getNamedType(field.type))
      ? !isList(field.type) || isLeafType(getNamedType(field.type))
      : depth < deepestSelection && !getNamedType(field.type).name.endsWith('Connection') && isOwned(field);
  });
  const inner = `${indent}  `;
  const lines = chosen.map((field) => `${inner}${field.name}${selectionOf(field.type, inner, depth + 1)}`);
  return ` {\n${lines.join('\n')}\n${indent}}`;
}

const isList = (type: GraphQLOutputType): boolean =>
  isNonNullType(type) ? isList(type.ofType) : isListType(type);

/** The types of nested objects that an example operation selects. */
const ownedTypes = new Set(['ApiKey', 'Webhook', 'WhitelistEntry', 'PageInfo', 'PlateDifference']);
const isOwned = (field: GraphQLField<unknown, unknown>) => ownedTypes.has(getNamedType(field.type).name);

/**
 * The nullable arguments that example operations contain. The example operations omit all other nullable arguments. The
 * argument `plate` is nullable because a client can send `reading` instead of `plate`.
 */
const givenOfSeveral = new Set(['plate']);

const isGiven = ({ name, type }: Pick<GraphQLArgument, 'name' | 'type'>) =>
  isNonNullType(type) || givenOfSeveral.has(name);

/**
 * Returns a sample value for an argument. If `examples` contains an example for the input type of the GraphQL argument,
 * the function returns this example.
 */
function argumentValue(argument: Pick<GraphQLArgument, 'name' | 'type'>): unknown {
  const type = isNonNullType(argument.type) ? argument.type.ofType : argument.type;
  if (isListType(type)) return [argumentValue({ name: argument.name, type: type.ofType })];
  if (isInputObjectType(type)) {
    const example = Object.values(examples[type.name] ?? {})[0];
    if (example) return example;
    const given = Object.values(type.getFields()).filter(isGiven);
    return Object.fromEntries(given.map((field) => [field.name, argumentValue(field)]));
  }
  if (isEnumType(type)) return type.getValues()[0]!.name;
  const byName: Record<string, unknown> = { plateType: 'DXB', plateCode: 'A', plateNumber: '12345' };
  if (argument.name in byName) return byName[argument.name];
  if (argument.name === 'url') return 'https://receiver.example/parking';
  if (argument.name === 'eventId') return 'gate-1-000042';
  if (argument.name === 'name') return 'Gate 1';
  if (String(type) === 'DateTime') return '2026-01-31T08:00:00.000Z';
  if (String(type) === 'Int') return 1;
  if (String(type) === 'Boolean') return false;
  return '';
}

/** Returns an example operation with one root field, its required arguments, and the fields of its result. */
export function exampleOperation(
  kind: OperationTypeNode,
  field: GraphQLField<unknown, unknown>,
): ExampleOperation {
  const required = field.args.filter(isGiven);
  const pages = field.args.find((argument) => argument.name === 'first');
  const name = field.name[0]!.toUpperCase() + field.name.slice(1);
  const declared = required.map((argument) => `$${argument.name}: ${argument.type}`);
  const given = required.map((argument) => `${argument.name}: $${argument.name}`);
  if (pages) given.push('first: 10');
  const query = [
    `${kind} ${name}${declared.length > 0 ? `(${declared.join(', ')})` : ''} {`,
    `  ${field.name}${given.length > 0 ? `(${given.join(', ')})` : ''}${selectionOf(field.type, '  ')}`,
    '}',
  ].join('\n');
  const variables = Object.fromEntries(required.map((argument) => [argument.name, argumentValue(argument)]));
  return { query, variables };
}
