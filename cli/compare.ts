import { isObject } from './is-object.ts';

/** A field whose value in the REST response differs from its value in the GraphQL response. */
export interface Difference {
  /** The path of the field in the response, such as `data[3].note`. */
  field: string;
  /** The value of the field in the REST response; undefined when the REST response does not have the field. */
  rest: unknown;
  graph: unknown;
}

/**
 * Returns the fields whose values differ between two JSON values. If nested objects differ, the function returns only
 * the innermost fields, such as `data[3].note`. The function ignores the order of the fields in an object, but compares
 * the items of two lists in order. If two lists have different lengths, the function reports a difference in the field
 * `length`.
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
