/** Maps the former name of each renamed field to its current name. */
export type FormerNames = Readonly<Record<string, string>>;

/**
 * Whether a request body uses the former name of a renamed field. If the body also has a value under the current name,
 * the result is false.
 */
export const usesFormerName = (
  body: unknown,
  formerName: string,
  name: string,
): body is Readonly<Record<string, unknown>> =>
  typeof body === 'object' &&
  body !== null &&
  formerName in body &&
  ((body as Readonly<Record<string, unknown>>)[name] ?? null) === null;

/**
 * Finds the renamed fields that a client sends under their former names. If a request contains a former field name, the
 * function returns this former name with the current name of the field. An error message about an invalid field must
 * contain the field name that the client has sent, which may be the former name.
 */
export const formerNamesIn = (
  names: FormerNames,
  { params, body }: { params: Readonly<Record<string, string>>; body: unknown },
): [string, string][] =>
  Object.entries(names)
    .filter(([formerName, name]) => formerName in params || usesFormerName(body, formerName, name))
    .map(([formerName, name]) => [name, formerName]);
