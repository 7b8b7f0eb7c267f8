import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { advisoryLocks } from './advisory-locks.ts';
import type { DatabaseUrlVariable, MigrationConnection } from './types.ts';
import { waitForServer } from './wait-for-server.ts';

/** The interval at which a process checks whether the migrations of another process are complete, in milliseconds. */
const LOCK_RETRY_INTERVAL_MS = 200;

/** The PostgreSQL parameters that limit how long the statements and transactions of a connection may take. */
const TIME_LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];

/** The PostgreSQL server on which the gateway applies the migrations. */
interface MigrationServer {
  connection: pg.ClientConfig;
  /**
   * The name of the environment variable that contains the URL of the PostgreSQL server; log lines and error messages
   * contain this name.
   */
  urlVariable: DatabaseUrlVariable;
  throughPooler: boolean;
  startWaitSeconds: number;
  log: Logger;
}

/**
 * Runs `work` on a new connection while this process holds the migration lock. If PostgreSQL does not answer, the
 * function tries again for up to `startWaitSeconds` seconds.
 *
 * @throws {DatabaseStartError} when PostgreSQL does not answer within `startWaitSeconds`, or rejects the connection
 *   settings
 */
export async function withMigrationLock<Result>(
  { connection, urlVariable, throughPooler, startWaitSeconds, log }: MigrationServer,
  work: (connection: MigrationConnection) => Promise<Result>,
): Promise<Result> {
  const clients: pg.Client[] = [];
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(connection);
    client.on('error', (error) => log.warn({ err: error }, 'lost a connection of the migration'));
    await client.connect();
    clients.push(client);
    return client;
  };
  const connectInTime = () => waitForServer(connect, { urlVariable, waitSeconds: startWaitSeconds, log });
  try {
    const locker = await connectInTime();
    const worker = await connectInTime();
    // Migrations can take minutes, and other gateway processes wait for the migrations. On the connection that applies
    // the migrations, the gateway therefore switches off the time limits that are set for its PostgreSQL role. On a
    // connection through a pooler, the gateway does not change the time limits, because changed time limits would also
    // apply to other clients of the pooler.
    if (!throughPooler) await worker.query(TIME_LIMITS.map((name) => `SET ${name} TO 0`).join('; '));
    // The gateway takes transaction-level advisory locks, because a pooler does not support session-level advisory
    // locks. The queries for the advisory locks have no parameters, because PostgreSQL keeps the snapshot of a query
    // with parameters even after the end of the query.
    await locker.query(['BEGIN', ...TIME_LIMITS.map((name) => `SET LOCAL ${name} TO 0`)].join('; '));
    await takeAdvisoryLock(locker, advisoryLocks.migration, log);
    await takeAdvisoryLock(locker, advisoryLocks.prismaMigration, log);
    return await work({
      query: async <Row>(text: string, values: readonly unknown[] = []) =>
        (await worker.query(text, [...values])).rows as Row[],
      runScript: async (script) => void (await worker.query(script)),
    });
  } finally {
    // When a database connection is closed, PostgreSQL ends the transaction of the connection, and releases the
    // advisory locks.
    await Promise.all(clients.map((client) => client.end()));
  }
}

/**
 * Requests an advisory lock for the current transaction again and again until PostgreSQL grants the lock. A single SQL
 * statement that waits for the advisory lock would keep a snapshot during the wait. This snapshot would block a CREATE
 * INDEX CONCURRENTLY of another process.
 */
async function takeAdvisoryLock(client: pg.Client, lock: number, log: Logger): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await client.query<{ isTaken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${lock}) AS "isTaken"`,
    );
    if (rows[0]!.isTaken) return;
    if (attempt === 1) log.info('waiting until another process has applied its migrations');
    await sleep(LOCK_RETRY_INTERVAL_MS);
  }
}
