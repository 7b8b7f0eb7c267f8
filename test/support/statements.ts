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

/** Parts of the statements that look a key up or record its usage. */
const partsOfGuardStatements = ['"UsageRecord"', '"ApiKeySecret"', '."ApiKey"', '"_ApiKeyTo'];

/**
 * The statements that a request took for itself: without the look-up of its key, which any change of any key makes
 * anew, and the usage of requests before it, which is written once a second.
 */
export const statementsOfRequest = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await statementsOf(work)).filter(
    (statement) => !partsOfGuardStatements.some((part) => statement.includes(part)),
  );
