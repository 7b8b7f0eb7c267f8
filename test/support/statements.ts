import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { vi } from 'vitest';
import { PreparedPGlite } from '../../src/database/prepared-pglite.ts';

/**
 * The SQL statements that the current call of {@link statementsOf} has recorded so far. The recorded statements do not
 * include the SQL statements of background jobs, such as webhook deliveries that an earlier test started.
 */
const recordedStatements = new AsyncLocalStorage<string[]>();

/**
 * Records the SQL statements that the method `query` of a database driver receives. Returns a function that ends the
 * recording of SQL statements.
 */
function recordStatements(driver: typeof pg.Client.prototype | PreparedPGlite) {
  const send = driver.query as (...parameters: unknown[]) => unknown;
  const spy = vi.spyOn(driver as { query: typeof send }, 'query');
  spy.mockImplementation(function (this: unknown, ...parameters) {
    const [query] = parameters;
    const text = typeof query === 'string' ? query : String((query as { text?: string }).text);
    recordedStatements.getStore()?.push(text);
    return Reflect.apply(send, this, parameters);
  });
  return () => spy.mockRestore();
}

/**
 * Runs a function, and returns the SQL statements that the gateway sends because of the call: statements of Prisma and
 * hand-written statements.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const ends = [recordStatements(pg.Client.prototype), recordStatements(PreparedPGlite.prototype)];
  try {
    await recordedStatements.run(statements, work);
  } finally {
    ends.forEach((end) => end());
  }
  return statements.filter((statement) => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/i.test(statement));
}

/**
 * Parts of SQL texts. These strings occur only in the SQL statements that look up an API key or store usage records.
 */
const partsOfGuardStatements = ['"UsageRecord"', '"ApiKeySecret"', '."ApiKey"', '"_ApiKeyTo'];

/**
 * Runs a request and returns its SQL statements, without the statements that look up the API key or store usage
 * records.
 */
export const statementsOfRequest = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await statementsOf(work)).filter(
    (statement) => !partsOfGuardStatements.some((part) => statement.includes(part)),
  );
