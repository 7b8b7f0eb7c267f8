/** Where two answers differ. */
export interface Difference {
  /** The field, such as `data[3].note`. */
  field: string;
  /** Undefined where the answer does not have the field. */
  rest: unknown;
  graph: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Where two JSON values differ, to the deepest field. The order of the fields of an object does not matter; the order
 * of a list does, and its length is a field of its own, `length`.
 */
export function differencesOf(rest: unknown, graph: unknown, field = ''): Difference[] {
  if (Array.isArray(rest) && Array.isArray(graph)) {
    const common = Math.min(rest.length, graph.length);
    return [
      ...differencesOf(rest.length, graph.length, `${field}.length`),
      ...rest
        .slice(0, common)
        .flatMap((item, index) => differencesOf(item, graph[index], `${field}[${index}]`)),
    ];
  }
  if (isObject(rest) && isObject(graph)) {
    return [...new Set([...Object.keys(rest), ...Object.keys(graph)])].flatMap((name) =>
      differencesOf(rest[name], graph[name], field ? `${field}.${name}` : name),
    );
  }
  return rest === graph ? [] : [{ field, rest, graph }];
}
