/** Maps the former name of each renamed field to its current name. */
export type FormerNames = Readonly<Record<string, string>>;

/** Whether a request body contains a field under its former name, and no value under its current name. */
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
 * Returns the current names of the fields that a request sends under their former names, each with its former name. An
 * error about such a field must contain the name that the client has sent.
 */
export const formerNamesIn = (
  names: FormerNames,
  { params, body }: { params: Readonly<Record<string, string>>; body: unknown },
): [string, string][] =>
  Object.entries(names)
    .filter(([formerName, name]) => formerName in params || usesFormerName(body, formerName, name))
    .map(([formerName, name]) => [name, formerName]);
