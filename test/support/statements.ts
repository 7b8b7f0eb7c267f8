import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { vi } from 'vitest';

/** Parts of the statements that the gateway runs every few seconds, whatever else happens. */
const partsOfTimedStatements = ['SKIP LOCKED', 'SELECT DISTINCT s."locationId"'];

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
      /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/i.test(statement) &&
      !partsOfTimedStatements.some((part) => statement.includes(part)),
  );
}
