import { DeferredJson } from '../scheduling/deferred-json.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { namedStatement } from './named-statement.ts';
import { createQueryBatch } from './statement-batch.ts';
import type { Sql } from './types.ts';

/** The maximum stored size of a small value, in bytes. One statement reads many small values. */
const smallStoredBytes = 16 * 1024;
/**
 * The maximum size of a small value after compression by PostgreSQL, in bytes. An uncompressed value can be up to
 * ninety times larger.
 */
const smallCompressedBytes = 1024;

/** The maximum number of characters of all large values in one response, as JSON. */
const maxCharactersOfAnswer = 8 * 1024 * 1024;

/**
 * The size of uncompressed jsonb, in bytes, from which on a value is too large for any response. PostgreSQL then does
 * not create its text. jsonb is at most about 25 bytes larger than the text for each JSON value inside it.
 */
const maxJsonbBytes = 12 * 1024 * 1024;

/** The request that reads large values. Their sizes are added up for each request. */
export interface ValueReader {
  key: { id: string };
  /**
   * Whether the response is streamed. In a streamed response, large values are read one after the other while the
   * response is written.
   */
  defersLargeValues?: boolean;
}

/** Reads the large value of a row by its id. The result is null for an unknown row and for a row without a value. */
export type LargeValues = (reader: ValueReader, id: string) => Promise<unknown>;

interface Question {
  id: string;
  reader: ValueReader;
}

const readSlots = createSlots(slotLimits.largeValueReads);

/**
 * Creates the function that reads a JSON column with large values. Small values are read together. Large values are
 * read one after the other, so that other requests can run in between.
 *
 * @param sql the connections to read with
 * @param table the table, with a column `id`
 * @param column the column, of type jsonb
 * @param isBounded whether a JSON text can be parsed in a short time, judging by its structure
 * @param tooLarge creates the error for a response that is not streamed, if the structure of a value exceeds the
 *   limits, or if all values together exceed the maximum size of a response
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
  // PostgreSQL does not send values that are too large. `OFFSET 0` makes PostgreSQL create the text only once. The
  // operator `#>` with an empty path returns the uncompressed value.
  const withinBounds = namedStatement(
    `${table}-${column}-bounded`,
    `SELECT CASE WHEN length(v.text) <= $mostCharacters::int THEN v.text END AS text
      FROM (
        SELECT CASE WHEN pg_column_size("${column}" #> '{}') <= ${maxJsonbBytes} THEN "${column}"::text END AS text
        FROM "${table}" WHERE id = $id OFFSET 0
      ) v`,
  );
  const charactersOf = new WeakMap<ValueReader, number>();

  /** Adds the size of a value to the total size of its response. Returns whether the response may be so large. */
  function count({ reader }: Question, text: string): boolean {
    const characters = (charactersOf.get(reader) ?? 0) + text.length;
    charactersOf.set(reader, characters);
    return characters <= maxCharactersOfAnswer;
  }

  /** Reads a value of any size as JSON text. The result is `null` if the value was deleted in the meantime. */
  const readWhole = ({ id, reader }: Question) =>
    readSlots.run(reader.key.id, async () => {
      await yieldToEventLoop();
      const [row] = await sql.query<{ text: string | null }>(whole, whole.values({ id }));
      return row?.text ?? 'null';
    });

  /** Reads a value. The result is an error if the value does not fit into the response. */
  const readBounded = (question: Question) =>
    readSlots.run(question.reader.key.id, async () => {
      const { id, reader } = question;
      // No value is read when the response has already reached its maximum size.
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
