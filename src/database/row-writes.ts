import { createBatch } from '../scheduling/batch.ts';
import { groupBy } from './group-by.ts';
import { type NamedStatement, parameterArrays } from './named-statement.ts';
import type { Sql } from './types.ts';
import { isLockFailure, isRefusedValue } from './violations.ts';

/**
 * The maximum number of changes that one statement writes. A statement with 50 changes takes about 10 ms, so it delays
 * other statements only a little.
 */
const maxJoinedWrites = 50;

/**
 * The time, in milliseconds, within which PostgreSQL rejects an SQL statement that waits for a row lock of another
 * transaction. If PostgreSQL rejects an SQL statement because of a lock after more than `maxRejectionMs`, another
 * transaction has locked the whole table. In this case, the gateway does not run a separate statement for each change,
 * because each separate statement would also have to wait for the locked table.
 */
const maxRejectionMs = 2_000;

/** A change of one row, with the values for the parameters of the SQL statement. */
interface RowWrite extends Readonly<Record<string, unknown>> {
  /** The id of the row to change. */
  rowId: string;
}

/**
 * Creates a function that changes one row. One SQL statement writes all changes that are requested in the same
 * iteration of the event loop. PostgreSQL can reject the whole SQL statement because one change has a wrong value, or
 * because one row is locked. If PostgreSQL rejects the SQL statement, no row changes, and the gateway runs a separate
 * SQL statement for each change. Therefore, if the change of one client fails because of a wrong value or a locked row,
 * the changes of other clients still succeed.
 *
 * @param statement an SQL statement whose parameters are arrays with one value for each change. In each row that the
 *   SQL statement returns, the column `n` contains the number of the change, starting at 1
 * @returns a function that makes one change. It returns the row that the SQL statement returns for this change, or
 *   undefined if the statement returns no row for it
 */
export function createRowWrites<Row extends { n: number }>(
  sql: Sql,
  statement: NamedStatement,
): (write: RowWrite) => Promise<Row | undefined> {
  async function run(writes: readonly RowWrite[]): Promise<(Row | undefined)[]> {
    const rows = await sql.query<Row>(statement, statement.values(parameterArrays(writes)));
    const byNumber = new Map(rows.map((row) => [row.n, row]));
    return writes.map((_, index) => byNumber.get(index + 1));
  }

  const runAlone = async (write: RowWrite) => (await run([write]))[0];

  /** Changes several database rows with one SQL statement, and returns one promise for each change. */
  async function runTogether(writes: readonly RowWrite[]): Promise<Promise<Row | undefined>[]> {
    const startedAt = performance.now();
    try {
      const rows = await run(writes);
      return rows.map((row) => Promise.resolve(row));
    } catch (error) {
      const isRowLocked = isLockFailure(error) && performance.now() - startedAt < maxRejectionMs;
      if (writes.length === 1 || !(isRefusedValue(error) || isRowLocked)) throw error;
      return writes.map(runAlone);
    }
  }

  // `createBatch` resolves all changes of a batch at the same time, so each change would wait for the slowest change.
  // Therefore `createBatch` returns an object for each change, and this object contains the promise of the change. As a
  // result, no change waits for the locked row of another change.
  const join = createBatch<RowWrite, { result: Promise<Row | undefined> }>(async (writes) => {
    const results = new Map<RowWrite, Promise<Row | undefined>>();
    const changesOfRows = [...groupBy(writes, ({ rowId }) => rowId).values()];
    const found = runTogether(changesOfRows.map(([first]) => first!));
    changesOfRows.forEach(([first, ...later], index) => {
      let last = found.then((rows) => rows[index]);
      results.set(first!, last);
      // One SQL statement can change a row only once. One SQL statement therefore writes only the first change of each
      // row. Separate statements then write the later changes of the row one after the other.
      for (const write of later) {
        last = last.then(
          () => runAlone(write),
          (error: unknown) => (isRefusedValue(error) ? runAlone(write) : Promise.reject(error as Error)),
        );
        results.set(write, last);
      }
    });
    return writes.map((write) => ({ result: results.get(write)! }));
  }, maxJoinedWrites);

  return async (write) => (await join(write)).result;
}
