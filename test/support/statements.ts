import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { vi } from 'vitest';

/** Texts by which tests recognize the SQL statements that the gateway runs in the background every few seconds. */
const partsOfTimedStatements = ['SKIP LOCKED', 'SELECT DISTINCT s."locationId"'];

/**
 * Runs a function, and returns the SQL statements that the gateway sends during the call: statements of Prisma and
 * hand-written statements.
 */
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

/** Texts by which tests recognize the SQL statements that look up an API key or record its usage. */
const partsOfGuardStatements = ['"UsageRecord"', '"ApiKeySecret"', '."ApiKey"', '"_ApiKeyTo'];

/**
 * Runs a request and returns its SQL statements, without the statements that look up the API key or store usage
 * records.
 */
export const statementsOfRequest = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await statementsOf(work)).filter(
    (statement) => !partsOfGuardStatements.some((part) => statement.includes(part)),
  );
