import { setImmediate as nextTurn } from 'node:timers/promises';
import { namedStatement } from './named-statement.ts';
import { createBatch } from './statement-batch.ts';
import type { Sql } from './types.ts';

/** Stored bytes up to which a value is read together with the others. PostgreSQL compresses some, about 90-fold at most. */
const smallStoredBytes = 16 * 1024;

/** Characters of JSON that the large values of one answer may have together; a single value may be larger. */
const maxCharactersOfAnswer = 8 * 1024 * 1024;

interface Question {
  id: string;
  request: object;
}

/**
 * Reads a column of JSON whose values can be large, only when it is asked for: small values together, and large ones
 * one after the other, so that other requests have their turn between them.
 *
 * @param sql where to read
 * @param table the table, with a column `id`
 * @param column the column, of type jsonb
 * @param tooLarge is thrown when the values of one answer together are larger than an answer may be
 * @returns what gives the value of a row, null for an unknown one. `request` stands for the answer that the value
 *   is for
 */
export function createLargeValues(
  sql: Sql,
  table: string,
  column: string,
  tooLarge: Error,
): (request: object, id: string) => Promise<unknown> {
  const small = namedStatement(
    `${table}-${column}-small`,
    `SELECT id, CASE WHEN pg_column_size("${column}") <= ${smallStoredBytes} THEN "${column}"::text END AS text
      FROM "${table}" WHERE id = ANY($ids::text[]) AND "${column}" IS NOT NULL`,
  );
  const large = namedStatement(
    `${table}-${column}-large`,
    `SELECT "${column}"::text AS text FROM "${table}" WHERE id = $id`,
  );
  const charactersOf = new WeakMap<object, number>();

  /** Counts a value towards its answer. */
  function count({ request }: Question, text: string): unknown {
    const before = charactersOf.get(request) ?? 0;
    const characters = before + text.length;
    charactersOf.set(request, characters);
    return before > 0 && characters > maxCharactersOfAnswer ? tooLarge : (JSON.parse(text) as unknown);
  }

  async function readLarge(question: Question): Promise<unknown> {
    // What no longer fits is not read.
    if ((charactersOf.get(question.request) ?? 0) > maxCharactersOfAnswer) return tooLarge;
    await nextTurn();
    const [row] = await sql.query<{ text: string }>(large, large.values({ id: question.id }));
    return row ? count(question, row.text) : null;
  }

  const batch = createBatch(async (questions: readonly Question[]) => {
    const ids = [...new Set(questions.map(({ id }) => id))];
    const rows = await sql.query<{ id: string; text: string | null }>(small, small.values({ ids }));
    const found = new Map(rows.map(({ id, text }) => [id, text]));
    const values: unknown[] = []; // an error stands for the value that it is thrown for
    for (const question of questions) {
      const text = found.get(question.id);
      if (text === undefined) values.push(null);
      else values.push(text === null ? await readLarge(question) : count(question, text));
    }
    return values;
  });
  return (request, id) => batch({ request, id });
}
