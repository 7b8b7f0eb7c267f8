import {
  type GraphQLInputType,
  type GraphQLLeafType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';

/**
 * Returns a value as the client sent it, except that a single item becomes a list where the type is a list. The paths
 * of faults contain list indexes, so the lists must exist.
 */
export const withLists = (value: unknown, type: GraphQLInputType): unknown =>
  mapInput(value, type, { leaf: (sent) => sent, withDefaults: false });

/**
 * Coerces a value by the types of the schema. For example, an enum name becomes its internal value. A part that does
 * not fit its type stays unchanged, so that a validation rule reports a fault in this part and in no other part.
 */
export const coerceWhereItFits = (value: unknown, type: GraphQLInputType): unknown =>
  mapInput(value, type, { leaf: parseWhereItFits, withDefaults: true });

interface InputMapping {
  leaf: (value: unknown, type: GraphQLLeafType) => unknown;
  withDefaults: boolean;
}

/**
 * Maps the leaves of a value where the shape of the value matches the type. Fields that the type does not have stay
 * unchanged.
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
