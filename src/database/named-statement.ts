import type { Prisma } from '../../prisma/generated/client/client.ts';
import type { Statement } from './types.ts';

/** What a named parameter may be: what `Sql.query` takes, and instants in arrays too. */
type Parameters = Readonly<Record<string, unknown>>;

/** A statement whose parameters have names. */
export interface NamedStatement extends Statement {
  /**
   * The values of a run, in the order in which the text numbers them. Parameters that the text does not use
   * are left out; instants become ISO 8601, which both databases take in arrays too.
   *
   * @throws {TypeError} when a parameter of the text is missing
   */
  values(parameters: Parameters): unknown[];
}

/** The most bytes of a name: PostgreSQL cuts longer ones, and two statements could become one. */
const maxNameBytes = 63;

const parameterForm = /\$([a-z]\w*)/gi;

/**
 * Makes a statement from a text with named parameters, such as `$locationId`, which may occur more than once.
 *
 * @param name stands for this text, for good; at most 63 bytes
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

/** Runs a named statement in a transaction of Prisma and returns its rows. */
export function queryInTransaction<Row>(
  transaction: Prisma.TransactionClient,
  statement: NamedStatement,
  parameters: Parameters,
): Promise<Row[]> {
  return transaction.$queryRawUnsafe<Row[]>(statement.text, ...statement.values(parameters));
}
