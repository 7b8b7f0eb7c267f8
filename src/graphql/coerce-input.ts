import {
  type GraphQLInputType,
  type GraphQLLeafType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/**
 * Returns the value that a client sent. Where the type is a list, a single item becomes a list, because the paths of
 * faults contain list indexes.
 */
export const withLists = (value: unknown, type: GraphQLInputType): unknown =>
  mapInput(value, type, { leaf: (sent) => sent, withDefaults: false });

/**
 * Coerces a value by the types of the schema. For example, the name of an enum value becomes its internal value. A part
 * that does not fit its type stays unchanged. A validation rule can then report a fault for exactly this part.
 */
export const coerceWhereItFits = (value: unknown, type: GraphQLInputType): unknown =>
  mapInput(value, type, { leaf: parseWhereItFits, withDefaults: true });

interface InputMapping {
  leaf: (value: unknown, type: GraphQLLeafType) => unknown;
  withDefaults: boolean;
}

/**
 * Applies a function to the scalars and enums in a value, wherever the value fits its type. Fields that the type does
 * not have stay unchanged.
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
