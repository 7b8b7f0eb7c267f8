import type { Logger } from 'pino';
import type { Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';

/** A Prisma client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/**
 * An SQL statement with a name. Each connection prepares the statement once under its name, so a name must always have
 * the same text.
 */
export interface Statement {
  name: string;
  text: string;
}

/** Runs hand-written SQL statements. They are used where one statement does the work of several Prisma calls. */
export interface Sql {
  /**
   * Runs one SQL statement and returns its rows. The JavaScript types of the columns are the same on both databases:
   *
   * - timestamptz is a Date;
   * - int2, int4 and float8 are numbers;
   * - int8 and numeric are strings (cast a count to `::int`);
   * - bool is a boolean, and jsonb is parsed;
   * - text[] is string[], and an enum is a string (cast an array of an enum to `::text[]`).
   *
   * A parameter is a Date, string, number, boolean or null. For a type such as `text[]`, it is an array of such values,
   * which may contain null. Pass jsonb as `JSON.stringify(…)`, because pg sends a JavaScript array as a PostgreSQL
   * array.
   *
   * @throws the driver's error, with `code` (SQLSTATE); see `isUniqueViolation`.
   */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** A connection for migrations. Its statements have no time limit. */
export interface MigrationConnection {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs a script with several SQL statements. The gateway passes the script to PostgreSQL as a whole and does not
   * split it.
   */
  runScript(script: string): Promise<void>;
}

/** Access to a database with Prisma and with hand-written SQL. Both use the same connections. */
export interface Connections {
  prisma: PrismaClient;
  sql: Sql;
}

/**
 * The state of the database. `read-only` means that the database answers queries but rejects writes, like a standby.
 */
export type DatabaseState = 'ok' | 'read-only' | 'unavailable';

/** The current numbers of a connection pool. */
export interface PoolState {
  /** The kind of work for which this connection pool is used. */
  pool: 'general' | 'gates' | 'heavy';
  /** The maximum number of connections of the pool. */
  size: number;
  inUse: number;
  /** The number of queries and transactions that wait for a connection. */
  waiting: number;
}

/** The database of a process. `prisma` and `sql` use the general connection pool. */
export interface Database extends Connections {
  /** The connections for requests of gates. They look up API keys and decide about vehicles. */
  gates: Connections;
  /** The connections for long work, such as imports, usage reports and the removal of expired records. */
  heavy: Connections;
  /** A read-only copy of the database, if a standby is configured (see standby-reads.ts). */
  standby: Connections | undefined;
  /**
   * The kind of database. `embedded` means that the database runs inside this process. All work then uses one
   * connection, so transactions run one after the other.
   */
  kind: 'postgresql' | 'embedded';
  /**
   * Checks the state of the database over a separate connection. The check takes at most about a second and never
   * throws.
   */
  state(): Promise<DatabaseState>;
  /**
   * Returns the current numbers of all connection pools. The list is empty for the embedded database, which has no
   * pools.
   */
  pools(): PoolState[];
  /** Waits for running statements. Then closes the connections, and releases the folder of an embedded database. */
  close(): Promise<void>;
  /**
   * Runs `work` on a separate connection while this process holds the migration lock. The call first waits until no
   * other gateway process and no `prisma migrate` is migrating this database.
   */
  withMigrationLock<Result>(work: (connection: MigrationConnection) => Promise<Result>): Promise<Result>;
}

/**
 * The address and the settings of the database. If `databaseUrl` is set (PostgreSQL 15 or later), `dataDir` (embedded
 * PostgreSQL) is ignored.
 */
export interface DatabaseOptions {
  databaseUrl?: string | undefined;
  /**
   * The address for migrations, which connects to the same server directly. When it is set, `databaseUrl` is the
   * address of a pooler.
   */
  directDatabaseUrl?: string | undefined;
  /** The address of a standby, for reads whose data may be some seconds old. */
  readUrl?: string | undefined;
  /** Whether statements are prepared. Some poolers do not support prepared statements. */
  prepareStatements?: boolean;
  /**
   * The folder of the embedded database, which is created if it is missing. With `memory://`, the data is lost when the
   * process ends.
   */
  dataDir: string;
  log: Logger;
  /**
   * The maximum number of connections for requests. The process opens up to a third of this number in addition for long
   * work.
   */
  poolSize?: number;
  /** The maximum number of connections for requests of gates. */
  gatePoolSize?: number;
  /** How long a starting gateway waits for an answer of PostgreSQL, in seconds. */
  startWaitSeconds?: number;
}
