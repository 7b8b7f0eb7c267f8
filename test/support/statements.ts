import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { vi } from 'vitest';

/** A part of the statement that the webhook worker runs every second, whatever else happens. */
const partOfWorkerStatement = 'SKIP LOCKED';

/** Runs some work and returns the SQL statements that it took, Prisma's and hand-written ones. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const spies = [vi.spyOn(pg.Client.prototype, 'query'), vi.spyOn(PGlite.prototype, 'query')];
  try {
    await work();
    for (const call of spies.flatMap((spy) => spy.mock.calls as unknown[][])) {
      const [query] = call;
      statements.push(typeof query === 'string' ? query : String((query as { text?: string }).text));
    }
  } finally {
    spies.forEach((spy) => spy.mockRestore());
  }
  return statements.filter(
    (statement) =>
      /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/i.test(statement) && !statement.includes(partOfWorkerStatement),
  );
}
