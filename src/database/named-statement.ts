import type { Statement, Transaction } from './types.ts';

/**
 * The values of named parameters of an SQL statement. The value of a parameter may have any type that `Sql.query`
 * accepts, and may also be an array of Dates.
 */
type Parameters = Readonly<Record<string, unknown>>;

/** An SQL statement whose parameters have names. */
export interface NamedStatement extends Statement {
  /**
   * Converts the values of the named parameters to the list of values for one execution of the SQL statement. A
   * parameter that the SQL text does not use is ignored. The function converts each value of type Date to ISO 8601
   * text, which PostgreSQL and the embedded database also accept in arrays.
   *
   * @throws {TypeError} when a parameter of the SQL text has no value
   */
  values(parameters: Parameters): unknown[];
}

/**
 * The maximum length of a statement name in bytes. PostgreSQL truncates a statement name after 63 bytes, so two
 * different long names could become equal.
 */
const maxNameBytes = 63;

const parameterForm = /\$([a-z]\w*)/gi;

/**
 * Creates an SQL statement from an SQL text with named parameters, such as `$locationId`. The SQL text may contain the
 * same parameter several times.
 *
 * @param name the name of the statement, at most 63 bytes long. Two statements with different SQL texts must have
 *   different names
 * @throws {TypeError} when the name of the statement is longer than 63 bytes
 */
export function namedStatement(name: string, text: string): NamedStatement {
  if (Buffer.byteLength(name) > maxNameBytes)
    throw new TypeError(`The name of a statement is too long: ${name}`);
  const names = [...new Set([...text.matchAll(parameterForm)].map(([, parameter]) => parameter!))];
  return {
    name,
    text: text.replace(parameterForm, (_, parameter: string) => `$${names.indexOf(parameter) + 1}`),
    values: (parameters) =>
      names.map((parameter) => {
        const value = parameters[parameter];
        if (value === undefined) throw new TypeError(`statement ${name}: no value for $${parameter}`);
        return Array.isArray(value) ? value.map(storable) : storable(value);
      }),
  };
}

/**
 * Converts the parameters of several changes or queries to array parameters: `[{ id: 1 }, { id: 2 }]` becomes
 * `{ id: [1, 2] }`.
 *
 * @throws {TypeError} when an item has no value for a parameter of the first item
 */
export const parameterArrays = (items: readonly Parameters[]): Record<string, unknown[]> =>
  Object.fromEntries(
    Object.keys(items[0]!).map((name) => [
      name,
      items.map((item) => {
        if (item[name] === undefined) throw new TypeError(`no value for the parameter ${name}`);
        return item[name];
      }),
    ]),
  );

const storable = (value: unknown) => (value instanceof Date ? value.toISOString() : value);

/** Runs a named statement in a Prisma transaction and returns its rows. */
export function queryInTransaction<Row>(
  transaction: Transaction,
  statement: NamedStatement,
  parameters: Parameters,
): Promise<Row[]> {
  return transaction.$queryRawUnsafe<Row[]>(statement.text, ...statement.values(parameters));
}
