import { setTimeout as sleep } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Logger } from 'pino';
import { PrismaClient } from '../../prisma/generated/client/client.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { columnTypes } from './column-types.ts';
import type { Connections, Database, DatabaseOptions, PoolState, Statement } from './types.ts';
import { DatabaseStartError } from './start-error.ts';
import { createStatementNamer } from './statement-namer.ts';
import { tracedAdapters, tracedSql } from './traced-statements.ts';
import { property } from './violations.ts';
import {
  answersInTime,
  LOCK_LIMITS_MS,
  PROBE_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
  TRANSACTION_OPTIONS,
} from './session.ts';

/** SQLSTATE of a deadlock: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DEADLOCK = '40P01';

/** How long a request waits for a free connection before it fails: a bit longer than a frozen gateway may hold others up. */
const CONNECTION_TIMEOUT_MS = 6_000;
/** The same for a gate, which waits for its answer and has connections of its own. */
const GATE_CONNECTION_TIMEOUT_MS = 2_000;

/** How long a read waits for the standby before the primary is asked. */
const STANDBY_CONNECTION_TIMEOUT_MS = 2_000;

/** The pause between two tries to reach the server at the start. */
const START_RETRY_INTERVAL_MS = 1_000;

/** Where a PostgreSQL server is, and how many connections to it this process opens. */
interface PostgresOptions extends DatabaseOptions {
  databaseUrl: string;
}

/**
 * Opens a PostgreSQL server, with a pool of connections for each kind of work: what is slow, or waits for a lock,
 * takes no connection from a gate or a probe.
 *
 * @throws {DatabaseStartError} when the server does not answer within `startWaitSeconds`
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { databaseUrl, directDatabaseUrl, prepareStatements = true, log, startWaitSeconds = 0 } = options;
  const { readUrl, poolSize = 10, gatePoolSize = 3 } = options;
  const connection = {
    connectionString: databaseUrl,
    application_name: 'parking-gateway',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    types: columnTypes,
  };
  // A pooler refuses the limits as parameters of a connection, and shares what is set in a session with strangers.
  const throughPooler = directDatabaseUrl !== undefined || !prepareStatements;

  function openPool(
    size: number,
    connectionTimeoutMillis: number,
    statementTimeoutMs: number,
    connectionString = databaseUrl,
  ): pg.Pool {
    const pool = new pg.Pool({
      ...connection,
      connectionString,
      connectionTimeoutMillis,
      ...(!throughPooler && { ...LOCK_LIMITS_MS, statement_timeout: statementTimeoutMs }),
      max: size,
      // The client gives up shortly after the server would have: only a server that is gone gets that far.
      query_timeout: statementTimeoutMs + 1_000,
      // Prisma's adapter writes and reads every time as UTC, whatever zone the server is set to. PgBouncer keeps it.
      onConnect: async (client) => {
        await client.query(`SET TimeZone TO 'UTC'`);
      },
    });
    // Node ends a process on an `error` event that nobody listens to. The pool replaces lost connections.
    pool.on('connect', (client) => {
      client.on('error', (error) => log.warn({ err: error }, 'lost a connection to PostgreSQL'));
    });
    pool.on('error', () => undefined);
    return pool;
  }

  function connectionsOver(pool: pg.Pool): Connections & { close(): Promise<void> } {
    const named = prepareStatements ? { statementNameGenerator: createStatementNamer() } : {};
    const prisma = new PrismaClient({
      adapter: tracedAdapters(throughPooler ? new PoolerAdapters(pool, named) : new PrismaPg(pool, named)),
      transactionOptions: TRANSACTION_OPTIONS,
      errorFormat: 'minimal',
    });
    return {
      prisma,
      sql: tracedSql({
        async query<Row>({ name, text }: Statement, values: readonly unknown[]) {
          const run = () => pool.query({ name: prepareStatements ? name : '', text, values: [...values] });
          const result = await run().catch((error: unknown) => {
            // The statement was taken back as a whole so that another one could go on: it may try again.
            if (property(error, 'code') === DEADLOCK) return run();
            throw error;
          });
          return result.rows as Row[];
        },
      }),
      async close() {
        await prisma.$disconnect();
        await pool.end();
      },
    };
  }

  const heavySize = Math.ceil(poolSize / 3);
  const pools = {
    general: openPool(poolSize, CONNECTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS),
    heavy: openPool(heavySize, CONNECTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS),
    gates: openPool(gatePoolSize, GATE_CONNECTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS),
  };
  const general = connectionsOver(pools.general);
  const heavy = connectionsOver(pools.heavy);
  const gates = connectionsOver(pools.gates);
  const probe = openPool(1, PROBE_TIMEOUT_MS, PROBE_TIMEOUT_MS);
  const standby =
    readUrl === undefined
      ? undefined
      : connectionsOver(openPool(heavySize, STANDBY_CONNECTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, readUrl));

  const probeState = async () => {
    const { rows } = await answersInTime(
      probe.query<{ readOnly: boolean }>(
        `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS "readOnly"`,
      ),
    );
    return rows[0]?.readOnly ? 'read-only' : 'ok';
  };

  const database: Database = {
    prisma: general.prisma,
    sql: general.sql,
    gates: { prisma: gates.prisma, sql: gates.sql },
    heavy: { prisma: heavy.prisma, sql: heavy.sql },
    standby,
    kind: 'postgresql',
    state: () => probeState().catch(() => 'unavailable'),
    pools: () =>
      Object.entries(pools).map(([name, { options, totalCount, idleCount, waitingCount }]) => ({
        pool: name as PoolState['pool'],
        size: options.max,
        inUse: totalCount - idleCount,
        waiting: waitingCount,
      })),
    async close() {
      await Promise.all([general.close(), heavy.close(), gates.close(), standby?.close(), probe.end()]);
    },
    async withMigrationLock(work) {
      const direct = { ...connection, connectionString: directDatabaseUrl ?? databaseUrl };
      const locker = new pg.Client(direct);
      const worker = new pg.Client(direct);
      for (const client of [locker, worker]) {
        client.on('error', (error) => log.warn({ err: error }, 'lost a connection that migrates'));
      }
      try {
        await Promise.all([locker.connect(), worker.connect()]);
        // Locks of a transaction, since a session's lock does not hold behind a pooler.
        // Simple queries: one with parameters would leave a snapshot, for which CREATE INDEX CONCURRENTLY waits.
        await locker.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout TO 0');
        await locker.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.migration})`);
        await locker.query(`SELECT pg_advisory_xact_lock(${advisoryLocks.prismaMigration})`);
        return await work({
          query: async <Row>(text: string, values: readonly unknown[] = []) =>
            (await worker.query(text, [...values])).rows as Row[],
          runScript: async (script) => void (await worker.query(script)),
        });
      } finally {
        // The end of the connection ends the transaction, which frees the locks.
        await Promise.all([worker.end(), locker.end()]);
      }
    },
  };
  try {
    await waitForServer(probeState, startWaitSeconds, log);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/**
 * Waits until the server answers, for machines that start everything at once.
 *
 * @throws {DatabaseStartError} when it does not in time, or at once when it answers that it will not have us
 */
async function waitForServer(ask: () => Promise<unknown>, waitSeconds: number, log: Logger): Promise<void> {
  const endsAtMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (cause) {
      const reason = reasonOf(cause);
      const secondsLeft = Math.ceil((endsAtMs - performance.now()) / 1_000);
      if (secondsLeft <= 0 || isRefusal(cause)) {
        throw new DatabaseStartError(`cannot connect to PostgreSQL at DATABASE_URL: ${reason}`, { cause });
      }
      log.warn(`PostgreSQL at DATABASE_URL does not answer (${reason}): trying for ${secondsLeft} s more`);
      await sleep(START_RETRY_INTERVAL_MS);
    }
  }
}

/**
 * Whether the server answered that these settings are wrong: the user or the password (class 28), the database
 * (3D), a parameter (08P01). To wait would change nothing.
 */
function isRefusal(error: unknown): boolean {
  return /^(28|3D|08P01)/.test(String(property(error, 'code')));
}

/**
 * Prisma's connections behind a pooler in transaction mode, where only a transaction has settings of its own:
 * each begins with the limits that keep a frozen gateway from holding others up.
 */
class PoolerAdapters extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const startTransaction = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await startTransaction(isolationLevel);
      const limits = { ...LOCK_LIMITS_MS, statement_timeout: STATEMENT_TIMEOUT_MS };
      const settings = Object.entries(limits).map(
        ([name, limitMs]) => `set_config('${name}', '${limitMs}', true)`,
      );
      await transaction.queryRaw({ sql: `SELECT ${settings.join(', ')}`, args: [], argTypes: [] });
      return transaction;
    };
    return adapter;
  }
}

/** Node reports a refusal by every address of a host as an error without a message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}
