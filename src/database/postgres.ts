import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../../prisma/generated/client/client.ts';
import { columnTypes } from './column-types.ts';
import { withMigrationLock } from './migration-lock.ts';
import { PoolerAdapters } from './pooler-adapters.ts';
import type { Connections, Database, DatabaseOptions, PoolState, Standby, Statement } from './types.ts';
import { createStatementNamer } from './statement-namer.ts';
import { tracedAdapters, tracedSql } from './traced-statements.ts';
import { property } from './violations.ts';
import { waitForServer } from './wait-for-server.ts';
import {
  answersInTime,
  LOCK_LIMITS_MS,
  PROBE_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
  TRANSACTION_OPTIONS,
} from './session.ts';

/** The SQLSTATE of a deadlock: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DEADLOCK = '40P01';

/**
 * The maximum time for which a request waits for a free database connection, in milliseconds. A frozen gateway process
 * can block other requests for 5 s, until PostgreSQL ends the transaction of the frozen process.
 * `CONNECTION_TIMEOUT_MS` is longer than 5 s, so blocked requests can still get a connection after PostgreSQL has ended
 * this transaction.
 */
const CONNECTION_TIMEOUT_MS = 6_000;
/**
 * The maximum time for which a request from a gate waits for a free database connection, in milliseconds. Requests from
 * gates use a separate connection pool.
 */
const GATE_CONNECTION_TIMEOUT_MS = 2_000;
/**
 * The time after which PostgreSQL cancels an SQL statement on a connection for gate requests, in milliseconds. All
 * requests of an API key may wait for one look-up of this key in the database, and the look-up may use a dead
 * connection, for example after a failover. With the longer time limit of other connections, all requests that wait for
 * the look-up would wait for half a minute.
 */
const GATE_STATEMENT_TIMEOUT_MS = 2_000;

/**
 * How long a query waits for a connection to the standby PostgreSQL server before the gateway uses the primary server
 * instead, in milliseconds.
 */
const STANDBY_CONNECTION_TIMEOUT_MS = 2_000;

/** The options for a PostgreSQL server, such as its address and the number of connections of this process. */
interface PostgresOptions extends DatabaseOptions {
  databaseUrl: string;
}

/**
 * Connects to a PostgreSQL server. The gateway has separate connection pools for requests from gates, for health
 * probes, for heavy work, and for all other requests. Because each kind of request has its own pool, slow requests
 * cannot occupy the connections for gate requests and health probes.
 *
 * @throws {DatabaseStartError} when PostgreSQL does not answer within `startWaitSeconds`, or rejects the connection
 *   settings
 */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const { databaseUrl, directDatabaseUrl, prepareStatements = true, log, startWaitSeconds = 0 } = options;
  const { urlVariable = 'DATABASE_URL' } = options;
  const { readUrl, poolSize = 10, gatePoolSize = 3 } = options;
  const connection = {
    connectionString: databaseUrl,
    application_name: 'parking-gateway',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    types: columnTypes,
  };
  // When the gateway connects through a pooler such as PgBouncer, it sets no time limits (such as `statement_timeout`)
  // for its database sessions. A pooler rejects connection parameters that set time limits. If the gateway set a time
  // limit with an SQL statement, the time limit would also apply to other clients of the pooler.
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
      ...(!throughPooler && {
        ...LOCK_LIMITS_MS,
        statement_timeout: statementTimeoutMs,
        // PostgreSQL's just-in-time compilation (JIT) is off, because the compilation would take longer than the
        // execution of any SQL statement of the gateway.
        options: '-c jit=off',
      }),
      max: size,
      // PostgreSQL itself ends slow statements after `statement_timeout`. The package pg ends a query after
      // `query_timeout`, which is 1 s longer than `statement_timeout`. `query_timeout` therefore takes effect only when
      // PostgreSQL is unreachable.
      query_timeout: statementTimeoutMs + 1_000,
      // Each database session uses UTC, because Prisma's adapter treats every time as UTC and ignores the server's time
      // zone. `SET TimeZone` also works through PgBouncer, because PgBouncer restores the time zone of each client
      // connection.
      onConnect: async (client) => {
        await client.query(`SET TimeZone TO 'UTC'`);
      },
    });
    // Node ends the process when an `error` event has no listener. The connection pool itself replaces lost database
    // connections, so the listeners for `error` events only write a log line or do nothing.
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
            // PostgreSQL rolls back a statement that is part of a deadlock, so the gateway can run the statement again.
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
    gates: openPool(gatePoolSize, GATE_CONNECTION_TIMEOUT_MS, GATE_STATEMENT_TIMEOUT_MS),
  };
  const general = connectionsOver(pools.general);
  const heavy = connectionsOver(pools.heavy);
  const gates = connectionsOver(pools.gates);
  const probe = openPool(1, PROBE_TIMEOUT_MS, PROBE_TIMEOUT_MS);

  function openStandby(url: string): Standby & { close(): Promise<void> } {
    const reads = connectionsOver(
      openPool(heavySize, STANDBY_CONNECTION_TIMEOUT_MS, STATEMENT_TIMEOUT_MS, url),
    );
    const standbyProbe = openPool(1, PROBE_TIMEOUT_MS, PROBE_TIMEOUT_MS, url);
    return {
      ...reads,
      probe: () => answersInTime(standbyProbe.query('SELECT 1')),
      async close() {
        // A stopping process waits at most one second for reads that still run on the standby PostgreSQL server,
        // because no request waits for the results of these reads. If the standby server no longer answers, a read on
        // this server could last 31 s.
        const closed = Promise.all([reads.close(), standbyProbe.end()]);
        await answersInTime(closed).catch(() => undefined);
      },
    };
  }
  const standby = readUrl === undefined ? undefined : openStandby(readUrl);

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
    withMigrationLock: (work) =>
      withMigrationLock(
        {
          connection: { ...connection, connectionString: directDatabaseUrl ?? databaseUrl },
          urlVariable: directDatabaseUrl === undefined ? urlVariable : 'DIRECT_DATABASE_URL',
          throughPooler: throughPooler && directDatabaseUrl === undefined,
          startWaitSeconds,
          log,
        },
        work,
      ),
  };
  try {
    await waitForServer(probeState, { urlVariable, waitSeconds: startWaitSeconds, log });
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
