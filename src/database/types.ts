import type { Logger } from 'pino';
import type { Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';

/** A Prisma client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/** A statement with a name, prepared once per connection. A name must always have the same text. */
export interface Statement {
  name: string;
  text: string;
}

/** Runs hand-written statements, where one statement must do the work of several Prisma calls. */
export interface Sql {
  /**
   * Runs one statement and returns its rows, in the same JavaScript types on both databases: timestamptz is a
   * Date, int2, int4 and float8 are numbers, text[] is string[], jsonb is parsed, bool is boolean, int8 and
   * numeric are strings (cast a count to `::int`), an enum is a string; cast an array of an enum to `::text[]`.
   *
   * A value is a Date, string, number, boolean or null, or an array of these (null included) for a type such as
   * `text[]`. Pass jsonb as `JSON.stringify(…)`, because pg sends a JavaScript array as a PostgreSQL array.
   *
   * @throws the driver's error, with `code` (SQLSTATE); see `isUniqueViolation`.
   */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** The connection of migrations, without the time limit for statements. */
export interface MigrationConnection {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a script of several statements. PostgreSQL parses the script; the gateway does not split it. */
  runScript(script: string): Promise<void>;
}

/** Prisma and hand-written statements over the same connections. */
export interface Connections {
  prisma: PrismaClient;
  sql: Sql;
}

/** The state of the database. `read-only` means that it answers queries and rejects writes, as a standby does. */
export type DatabaseState = 'ok' | 'read-only' | 'unavailable';

/** The current state of a pool of connections. */
export interface PoolState {
  /** The kind of work that uses its connections. */
  pool: 'general' | 'gates' | 'heavy';
  /** The maximum number of connections. */
  size: number;
  inUse: number;
  /** The number of queries and transactions that wait for a connection. */
  waiting: number;
}

/** The database of a process. Its own `prisma` and `sql` use the general pool. */
export interface Database extends Connections {
  /** Connections for gates only: for the look-up of keys and for decisions. */
  gates: Connections;
  /** Connections for long work only: imports, usage reports and the removal of expired records. */
  heavy: Connections;
  /** A read-only standby of the database, if there is one (see standby-reads.ts). */
  standby: Connections | undefined;
  /**
   * `embedded` runs inside this process. All its work shares one connection, so transactions run one after the other.
   */
  kind: 'postgresql' | 'embedded';
  /** Checks the state over a separate connection. It takes about a second at most and never throws. */
  state(): Promise<DatabaseState>;
  /** The pools of connections; the embedded database has none. */
  pools(): PoolState[];
  /** Waits for running statements, then closes the connections or releases the folder. */
  close(): Promise<void>;
  /**
   * Runs `work` on a separate connection while it holds the migration lock. It waits until no other gateway process and
   * no `prisma migrate` migrates this database.
   */
  withMigrationLock<Result>(work: (connection: MigrationConnection) => Promise<Result>): Promise<Result>;
}

/**
 * The location and settings of the database. When `databaseUrl` (PostgreSQL 15 or later) is set, `dataDir` (embedded
 * PostgreSQL) is not used.
 */
export interface DatabaseOptions {
  databaseUrl?: string | undefined;
  /** A direct connection to the same server, for migrations. When it is set, `databaseUrl` is a pooler. */
  directDatabaseUrl?: string | undefined;
  /** A standby of the server, for reads that may be some seconds behind. */
  readUrl?: string | undefined;
  /** Whether to use prepared statements, which some poolers do not support. */
  prepareStatements?: boolean;
  /** A folder, which is created if missing, or `memory://` for data that is lost when the process ends. */
  dataDir: string;
  log: Logger;
  /** The maximum number of connections for requests. One third of this number is added for long work. */
  poolSize?: number;
  /** The maximum number of connections for gates. */
  gatePoolSize?: number;
  /** How long to wait at the start for PostgreSQL to answer, in seconds. */
  startWaitSeconds?: number;
}
