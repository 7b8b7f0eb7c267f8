import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Logger } from 'pino';
import { PrismaClient } from '../prisma/generated/client/client.ts';
import { columnTypes } from './column-types.ts';
import type { Database, Statement } from './db.ts';
import { property } from './db-errors.ts';
import { answersInTime, TRANSACTION_OPTIONS } from './db-session.ts';
import { withWholeScripts } from './migration-adapters.ts';

/** SQLSTATE of a deadlock: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DEADLOCK = '40P01';

/** How long a caller waits for a connection before the request fails. */
const CONNECTION_TIMEOUT_MS = 2_000;
/** Ends a statement on the server, so that a forgotten one does not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * The advisory lock of migrations, any number of our own. The schema engine takes Prisma's (72707369) inside it
 * and so keeps `prisma migrate` out; alone that one would not do, since it gives up waiting after 10 s.
 */
const MIGRATION_LOCK = 7_205_759_403;

/** Distinct statements of Prisma that are prepared; lists of changing length must not fill the server's memory. */
const MAX_NAMED_STATEMENTS = 500;

/**
 * Opens a PostgreSQL server. One pool serves Prisma and hand-written statements.
 *
 * @throws when the server does not answer
 */
export async function openPostgres(databaseUrl: string, log: Logger, poolSize: number): Promise<Database> {
  const connection = {
    connectionString: databaseUrl,
    application_name: 'parking-gateway',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    types: columnTypes,
  };
  const pool = new pg.Pool({
    ...connection,
    max: poolSize,
    // The client gives up shortly after the server would have: only a server that is gone gets that far.
    query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
    // Prisma's adapter writes and reads every time as UTC, whatever zone the server is set to.
    onConnect: async (client) => {
      await client.query(`SET TimeZone TO 'UTC'; SET statement_timeout TO ${STATEMENT_TIMEOUT_MS}`);
    },
  });
  // Node ends a process on an `error` event that nobody listens to. The pool replaces lost connections.
  pool.on('connect', (client) => {
    client.on('error', (error) => log.warn({ err: error }, 'lost a connection to PostgreSQL'));
  });
  pool.on('error', () => undefined);

  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: createStatementNamer() }),
    transactionOptions: TRANSACTION_OPTIONS,
  });

  const database: Database = {
    prisma,
    kind: 'postgresql',
    sql: {
      async query<Row>({ name, text }: Statement, values: readonly unknown[]) {
        const run = () => pool.query({ name, text, values: [...values] });
        const result = await run().catch((error: unknown) => {
          // The statement was taken back as a whole so that another one could go on: it may try again.
          if (property(error, 'code') === DEADLOCK) return run();
          throw error;
        });
        return result.rows as Row[];
      },
    },
    ping: () => answersInTime(pool.query('SELECT 1')),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
    async withMigrationLock(work) {
      const locker = new pg.Client(connection);
      const workers = new pg.Pool({ ...connection, max: 1 });
      workers.on('error', () => undefined);
      locker.on('error', (error) =>
        log.warn({ err: error }, 'lost the connection that holds the migration lock'),
      );
      try {
        await locker.connect();
        await locker.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
        return await work(withWholeScripts(new PrismaPg(workers), (script) => workers.query(script)));
      } finally {
        // Ending the session frees the lock.
        await Promise.all([workers.end(), locker.end()]);
      }
    },
  };
  try {
    await pool.query('SELECT 1');
  } catch (error) {
    await database.close();
    throw new Error(`cannot connect to PostgreSQL at DATABASE_URL: ${reasonOf(error)}`, { cause: error });
  }
  return database;
}

/** Node reports a refusal by every address of a host as an error without a message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}

/** Names the statements of Prisma, so that PostgreSQL plans each once per connection. '' leaves one unnamed. */
function createStatementNamer(): (query: { sql: string }) => string {
  const nameByText = new Map<string, string>();
  return ({ sql }) => {
    let name = nameByText.get(sql);
    if (name === undefined && nameByText.size < MAX_NAMED_STATEMENTS) {
      name = `prisma_${nameByText.size}`;
      nameByText.set(sql, name);
    }
    return name ?? '';
  };
}
