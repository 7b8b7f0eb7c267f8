import { DeferredJson } from '../deferred-json.ts';
import { createFairTurns } from '../fair-turns.ts';
import { freeMoment } from '../free-moment.ts';
import { namedStatement } from './named-statement.ts';
import { createBatch } from './statement-batch.ts';
import type { Sql } from './types.ts';

/** Stored bytes up to which a value is read together with the others. */
const smallStoredBytes = 16 * 1024;
/** The same for a value that PostgreSQL stores compressed, about 90-fold at most. */
const smallCompressedBytes = 1024;

/** Characters of JSON that the large values of one answer may have together. */
const maxCharactersOfAnswer = 8 * 1024 * 1024;

/**
 * Bytes of jsonb, uncompressed, beyond which a value has more characters or values than an answer may have, so that its
 * text need not be made: each value takes at most some 25 bytes beside those of its text.
 */
const maxJsonbBytes = 12 * 1024 * 1024;

/** Who a value is for: the request, for which the values of its answer are counted together. */
export interface ValueReader {
  key: { id: string };
  /** Whether the answer is written piece by piece: large values are then read one after the other as it is written. */
  defersLargeValues?: boolean;
}

/** Gives the value of a row; null for an unknown row and for one without a value. */
export type LargeValues = (reader: ValueReader, id: string) => Promise<unknown>;

interface Question {
  id: string;
  reader: ValueReader;
}

/** One large value at a time in a process: to read one takes several times its size in memory. Keys take turns. */
const readTurns = createFairTurns(1);

/**
 * Reads a column of JSON whose values can be large, only when it is asked for: small values together, and large ones
 * one after the other, so that other requests have their turn between them.
 *
 * @param sql where to read
 * @param table the table, with a column `id`
 * @param column the column, of type jsonb
 * @param isBounded whether the structure of a JSON is such that it is parsed in little time
 * @param tooLarge is thrown for values that are not deferred: one whose structure is out of bounds, and those that
 *   together are larger than an answer may be
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
  // What is too large stays at the server; OFFSET keeps the text from being made twice. The empty path gives the value
  // as it is, uncompressed.
  const withinBounds = namedStatement(
    `${table}-${column}-bounded`,
    `SELECT CASE WHEN length(v.text) <= $mostCharacters::int THEN v.text END AS text
      FROM (
        SELECT CASE WHEN pg_column_size("${column}" #> '{}') <= ${maxJsonbBytes} THEN "${column}"::text END AS text
        FROM "${table}" WHERE id = $id OFFSET 0
      ) v`,
  );
  const charactersOf = new WeakMap<ValueReader, number>();

  /** Counts a value towards its answer. */
  function count({ reader }: Question, text: string): boolean {
    const characters = (charactersOf.get(reader) ?? 0) + text.length;
    charactersOf.set(reader, characters);
    return characters <= maxCharactersOfAnswer;
  }

  /** The JSON of a value whatever its size; of one that is gone by now, `null`. */
  const readWhole = ({ id, reader }: Question) =>
    readTurns.run(reader.key.id, async () => {
      await freeMoment();
      const [row] = await sql.query<{ text: string | null }>(whole, whole.values({ id }));
      return row?.text ?? 'null';
    });

  /** A value that an answer has room for, or the error that says that it has not. */
  const readBounded = (question: Question) =>
    readTurns.run(question.reader.key.id, async () => {
      const { id, reader } = question;
      // What no longer fits is not read.
      const mostCharacters = maxCharactersOfAnswer - (charactersOf.get(reader) ?? 0);
      if (mostCharacters <= 0) return tooLarge;
      await freeMoment();
      const [row] = await sql.query<{ text: string | null }>(
        withinBounds,
        withinBounds.values({ id, mostCharacters }),
      );
      if (!row) return null;
      const isAnswerable = row.text !== null && count(question, row.text) && isBounded(row.text);
      return isAnswerable ? (JSON.parse(row.text!) as unknown) : tooLarge;
    });

  const readSmall = createBatch(async (ids: readonly string[]) => {
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
