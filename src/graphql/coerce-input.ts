import {
  type GraphQLInputType,
  type GraphQLLeafType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/**
 * If the schema requires a list and the client sent a single item, the function puts the item into a list. The path of
 * an invalid field therefore always contains the index of a list item, even if the client sent no list.
 */
export const withLists = (value: unknown, type: GraphQLInputType): unknown =>
  mapInput(value, type, { leaf: (sent) => sent, withDefaults: false });

/**
 * Converts a value from a client to the value that a resolver receives. For example, the function replaces the name of
 * an enum value with the internal value that the resolver uses. A property or list item that does not fit its type in
 * the schema stays unchanged, and the validation rules report the fault later.
 */
export const coerceWhereItFits = (value: unknown, type: GraphQLInputType): unknown =>
  mapInput(value, type, { leaf: parseWhereItFits, withDefaults: true });

interface InputMapping {
  leaf: (value: unknown, type: GraphQLLeafType) => unknown;
  withDefaults: boolean;
}

/**
 * Calls the function `mapping.leaf` for each scalar and enum value in a client's input, and puts the result in place of
 * the value. Two kinds of values stay unchanged: a value whose structure does not fit its GraphQL type, and a field
 * that the schema does not define.
 */
function mapInput(value: unknown, type: GraphQLInputType, mapping: InputMapping): unknown {
  if (isNonNullType(type)) return mapInput(value, type.ofType, mapping);
  if (value === null || value === undefined) return value;
  if (isListType(type)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return items.map((item) => mapInput(item, type.ofType, mapping));
  }
  if (!isInputObjectType(type)) return mapping.leaf(value, type);
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const types = type.getFields();
  const sent = Object.entries(value).map(([name, item]): [string, unknown] => {
    const field = Object.hasOwn(types, name) ? types[name] : undefined;
    return [name, field ? mapInput(item, field.type, mapping) : item];
  });
  const defaults = mapping.withDefaults
    ? Object.values(types)
        .filter(({ name, defaultValue }) => defaultValue !== undefined && !Object.hasOwn(value, name))
        .map(({ name, defaultValue }): [string, unknown] => [name, defaultValue])
    : [];
  return Object.fromEntries([...sent, ...defaults]);
}

function parseWhereItFits(value: unknown, type: GraphQLLeafType): unknown {
  try {
    return type.parseValue(value) ?? value;
  } catch {
    return value;
  }
}
