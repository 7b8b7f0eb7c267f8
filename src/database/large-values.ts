import { DeferredJson } from '../scheduling/deferred-json.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { createLargeValueStatements } from './large-value-statements.ts';
import { createQueryBatch } from './statement-batch.ts';
import type { Sql } from './types.ts';

/** The maximum total length, in characters, of the values that one response may contain from one JSON column. */
const maxCharactersOfAnswer = 8 * 1024 * 1024;

/**
 * A request for whose response the gateway reads large JSON values. For each request, the gateway adds up the sizes of
 * the values that it reads from one JSON column.
 */
export interface ValueReader {
  key: { id: string };
  /** Checks the API key of the request again, and throws an error if the API key has lost access. */
  reauthenticate(): Promise<unknown>;
  /**
   * Whether the gateway streams the response to the client. While the gateway streams a response, it reads the large
   * values one after the other from the database.
   */
  defersLargeValues?: boolean;
}

/**
 * Reads the value of the JSON column, small or large, by the id of the row. Returns null if no row has this id, or if
 * the JSON column of the row is null.
 */
export type LargeValues = (reader: ValueReader, id: string) => Promise<unknown>;

interface Question {
  id: string;
  reader: ValueReader;
}

const readSlots = createSlots(slotLimits.largeValueReads);

/**
 * Creates the function that reads a JSON column with large values. One SQL statement reads the small JSON values of
 * several rows. Large JSON values are read one after the other, so that other requests can run between two reads.
 *
 * @param table the name of a table that has a column `id`
 * @param column the name of the column, which must have the type jsonb
 * @param isBounded a function that returns true if a JSON text has few enough values, and shallow enough nesting, to be
 *   parsed fast
 * @param tooLarge the error to throw when one value is too long, or when all values of a response together are too
 *   long. In a streamed response, large values may have any size
 */
export function createLargeValues(
  sql: Sql,
  table: string,
  column: string,
  { isBounded, tooLarge }: { isBounded: (text: string) => boolean; tooLarge: Error },
): LargeValues {
  const { smallValues, wholeValue, boundedValue } = createLargeValueStatements(table, column);
  const charactersOf = new WeakMap<ValueReader, number>();

  /**
   * Adds the size of a value, small or large, to the total size of all values in the response. Returns true if the
   * total size of all values in the response is at most `maxCharactersOfAnswer`.
   */
  function count({ reader }: Question, text: string): boolean {
    const characters = (charactersOf.get(reader) ?? 0) + text.length;
    charactersOf.set(reader, characters);
    return characters <= maxCharactersOfAnswer;
  }

  /**
   * Reads a JSON value of any size from the database, and returns it as JSON text. If the value has just been deleted,
   * the function returns the text `null`.
   */
  const readWhole = ({ id, reader }: Question) =>
    readSlots.run(reader.key.id, async () => {
      // The function checks the API key of the request again. The API key may have been revoked while this function
      // waited for a slot, or while the client read an earlier part of the response.
      await reader.reauthenticate();
      await yieldToEventLoop();
      const [row] = await sql.query<{ text: string | null }>(wholeValue, wholeValue.values({ id }));
      return row?.text ?? 'null';
    });

  /**
   * Reads a large value from the database. Returns the error `tooLarge` if the large value is too long, or if all
   * values of the response together are too long.
   */
  const readBounded = (question: Question) =>
    readSlots.run(question.reader.key.id, async () => {
      const { id, reader } = question;
      // The function checks the API key again, because the API key may have been revoked while the function waited for
      // a slot.
      await reader.reauthenticate();
      // If the values in the response already have the maximum total length, the gateway reads no more large values.
      const mostCharacters = maxCharactersOfAnswer - (charactersOf.get(reader) ?? 0);
      if (mostCharacters <= 0) return tooLarge;
      await yieldToEventLoop();
      const [row] = await sql.query<{ text: string | null }>(
        boundedValue,
        boundedValue.values({ id, mostCharacters }),
      );
      if (!row) return null;
      const isAnswerable = row.text !== null && count(question, row.text) && isBounded(row.text);
      return isAnswerable ? (JSON.parse(row.text!) as unknown) : tooLarge;
    });

  const readSmall = createQueryBatch(async (ids: readonly string[]) => {
    const rows = await sql.query<{ id: string; text: string | null }>(
      smallValues,
      smallValues.values({ ids: [...new Set(ids)] }),
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
