import { DeferredJson } from '../scheduling/deferred-json.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { namedStatement } from './named-statement.ts';
import { createQueryBatch } from './statement-batch.ts';
import type { Sql } from './types.ts';

/** The maximum stored size of a small value, in bytes. One statement can read many small values. */
const smallStoredBytes = 16 * 1024;
/**
 * The maximum stored size of a small value that PostgreSQL compressed, in bytes. PostgreSQL compresses a value to a
 * ninetieth of its size at best.
 */
const smallCompressedBytes = 1024;

/** The maximum number of JSON characters of all values in one response. */
const maxCharactersOfAnswer = 8 * 1024 * 1024;

/**
 * The size of uncompressed jsonb, in bytes, above which a value certainly exceeds the limits of a response. PostgreSQL
 * then does not create the text of the value. Each JSON value inside the jsonb takes at most about 25 bytes more than
 * its text.
 */
const maxJsonbBytes = 12 * 1024 * 1024;

/** The request that reads values. The sizes of all values in its response are added up. */
export interface ValueReader {
  key: { id: string };
  /**
   * Whether the response is streamed. A streamed response reads its large values one after the other while it is
   * written.
   */
  defersLargeValues?: boolean;
}

/** Reads the large value of a row. The result is null for an unknown row and for a row without a value. */
export type LargeValues = (reader: ValueReader, id: string) => Promise<unknown>;

interface Question {
  id: string;
  reader: ValueReader;
}

const readSlots = createSlots(slotLimits.largeValueReads);

/**
 * Creates the function that reads a JSON column with large values, for requests that select the column. Small values
 * are read together. Large values are read one after the other, so that other requests can run in between.
 *
 * @param sql the connections to read with
 * @param table the table, with a column `id`
 * @param column the column, of type jsonb
 * @param isBounded whether JSON can be parsed in a short time, judging by its structure
 * @param tooLarge creates the error for a response that is not streamed, when the structure of a value exceeds the
 *   bounds, or when all values together exceed the size of a response
 */
export function createLargeValues(
  sql: Sql,
  table: string,
  column: string,
  { isBounded, tooLarge }: { isBounded: (text: string) => boolean; tooLarge: Error },
): LargeValues {
  const small = namedStatement(
    `${table}-${column}-small`,
    `SELECT id, CASE WHEN pg_column_size("${column}")
        <= CASE WHEN pg_column_compression("${column}") IS NULL THEN ${smallStoredBytes} ELSE ${smallCompressedBytes} END
        THEN "${column}"::text END AS text
      FROM "${table}" WHERE id = ANY($ids::text[]) AND "${column}" IS NOT NULL`,
  );
  const whole = namedStatement(
    `${table}-${column}-large`,
    `SELECT "${column}"::text AS text FROM "${table}" WHERE id = $id`,
  );
  // PostgreSQL does not send a value that is too large. `OFFSET 0` prevents PostgreSQL from creating the text twice.
  // The operator `#>` with an empty path returns the uncompressed value.
  const withinBounds = namedStatement(
    `${table}-${column}-bounded`,
    `SELECT CASE WHEN length(v.text) <= $mostCharacters::int THEN v.text END AS text
      FROM (
        SELECT CASE WHEN pg_column_size("${column}" #> '{}') <= ${maxJsonbBytes} THEN "${column}"::text END AS text
        FROM "${table}" WHERE id = $id OFFSET 0
      ) v`,
  );
  const charactersOf = new WeakMap<ValueReader, number>();

  /** Adds the size of a value to the size of its response, and returns whether the response may be that large. */
  function count({ reader }: Question, text: string): boolean {
    const characters = (charactersOf.get(reader) ?? 0) + text.length;
    charactersOf.set(reader, characters);
    return characters <= maxCharactersOfAnswer;
  }

  /** Reads the JSON of a value of any size. The result is `null` if the value was deleted in the meantime. */
  const readWhole = ({ id, reader }: Question) =>
    readSlots.run(reader.key.id, async () => {
      await yieldToEventLoop();
      const [row] = await sql.query<{ text: string | null }>(whole, whole.values({ id }));
      return row?.text ?? 'null';
    });

  /** Reads a value. If the value does not fit into the response, the function returns an error. */
  const readBounded = (question: Question) =>
    readSlots.run(question.reader.key.id, async () => {
      const { id, reader } = question;
      // A value is not read when its response is already full.
      const mostCharacters = maxCharactersOfAnswer - (charactersOf.get(reader) ?? 0);
      if (mostCharacters <= 0) return tooLarge;
      await yieldToEventLoop();
      const [row] = await sql.query<{ text: string | null }>(
        withinBounds,
        withinBounds.values({ id, mostCharacters }),
      );
      if (!row) return null;
      const isAnswerable = row.text !== null && count(question, row.text) && isBounded(row.text);
      return isAnswerable ? (JSON.parse(row.text!) as unknown) : tooLarge;
    });

  const readSmall = createQueryBatch(async (ids: readonly string[]) => {
    const rows = await sql.query<{ id: string; text: string | null }>(
      small,
      small.values({ ids: [...new Set(ids)] }),
    );
    const found = new Map(rows.map(({ id, text }) => [id, { text }]));
    return ids.map((id) => found.get(id));
  });

  return async (reader, id) => {
    const found = await readSmall(id);
    if (!found) return null;
    const question = { id, reader };
    const fits = found.text !== null && count(question, found.text);
    if (fits) return JSON.parse(found.text!) as unknown;
    if (reader.defersLargeValues) return new DeferredJson(() => readWhole(question));
    if (found.text !== null) throw tooLarge;
    const value = await readBounded(question);
    if (value instanceof Error) throw value;
    return value;
  };
}
