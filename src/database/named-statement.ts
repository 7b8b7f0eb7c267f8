import type { Statement, Transaction } from './types.ts';

/** The values of named parameters. Allowed are all types that `Sql.query` accepts, and arrays of instants. */
type Parameters = Readonly<Record<string, unknown>>;

/** An SQL statement whose parameters have names. */
export interface NamedStatement extends Statement {
  /**
   * Converts named values to the list of values for one execution, in the order of the numbers in the SQL text. Values
   * that the text does not use are omitted. Instants become ISO 8601 text, because both databases accept it in arrays,
   * too.
   *
   * @throws {TypeError} when a parameter of the text has no value
   */
  values(parameters: Parameters): unknown[];
}

/**
 * The maximum length of a statement name in bytes. PostgreSQL truncates longer names, so two statements could get the
 * same name.
 */
const maxNameBytes = 63;

const parameterForm = /\$([a-z]\w*)/gi;

/**
 * Creates an SQL statement from a text with named parameters, such as `$locationId`. A parameter may occur several
 * times.
 *
 * @param name the name of this text, at most 63 bytes long. No other text may have the same name
 * @throws {TypeError} for a longer name
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

const storable = (value: unknown) => (value instanceof Date ? value.toISOString() : value);

/** Runs a named statement in a Prisma transaction and returns its rows. */
export function queryInTransaction<Row>(
  transaction: Transaction,
  statement: NamedStatement,
  parameters: Parameters,
): Promise<Row[]> {
  return transaction.$queryRawUnsafe<Row[]>(statement.text, ...statement.values(parameters));
}
