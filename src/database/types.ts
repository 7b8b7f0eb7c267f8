import type { Logger } from 'pino';
import type { Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';

/** A Prisma client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/** A statement with a name. Each connection prepares the statement once, so a name must always have the same text. */
export interface Statement {
  name: string;
  text: string;
}

/** Runs hand-written statements. They are used where one statement must do the work of several Prisma calls. */
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

/** A connection for migrations, without the time limit for statements. */
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

/**
 * The state of the database. `read-only` means that the database answers queries and rejects writes, as a standby does.
 */
export type DatabaseState = 'ok' | 'read-only' | 'unavailable';

/** The current state of a pool of connections. */
export interface PoolState {
  /** The kind of work that uses the connections of this pool. */
  pool: 'general' | 'gates' | 'heavy';
  /** The maximum number of connections of the pool. */
  size: number;
  inUse: number;
  /** The number of queries and transactions that wait for a connection. */
  waiting: number;
}

/** The database of a process. Its `prisma` and `sql` use the general pool of connections. */
export interface Database extends Connections {
  /** Connections that only gates use, for the look-up of keys and for decisions. */
  gates: Connections;
  /** Connections that only long work uses: imports, usage reports and the removal of expired records. */
  heavy: Connections;
  /** A read-only standby of the database, if one is configured (see standby-reads.ts). */
  standby: Connections | undefined;
  /**
   * `embedded` means that the database runs inside this process. All its work shares one connection, so transactions
   * run one after the other.
   */
  kind: 'postgresql' | 'embedded';
  /**
   * Checks the state of the database over a separate connection. The check takes about a second at most and never
   * throws.
   */
  state(): Promise<DatabaseState>;
  /** Returns the states of the connection pools. The list is empty for the embedded database, which has no pools. */
  pools(): PoolState[];
  /** Waits for running statements, then closes the connections or releases the folder. */
  close(): Promise<void>;
  /**
   * Runs `work` on a separate connection while this process holds the migration lock. The call waits until no other
   * gateway process and no `prisma migrate` migrates this database.
   */
  withMigrationLock<Result>(work: (connection: MigrationConnection) => Promise<Result>): Promise<Result>;
}

/**
 * The address and settings of the database. When `databaseUrl` (PostgreSQL 15 or later) is set, `dataDir` (embedded
 * PostgreSQL) is not used.
 */
export interface DatabaseOptions {
  databaseUrl?: string | undefined;
  /**
   * A direct connection to the same server, for migrations. When this address is set, `databaseUrl` is the address of a
   * pooler.
   */
  directDatabaseUrl?: string | undefined;
  /** A standby of the server, for reads that may be some seconds behind. */
  readUrl?: string | undefined;
  /** Whether to use prepared statements, which some poolers do not support. */
  prepareStatements?: boolean;
  /** A folder for the data, or `memory://` for data that is lost when the process ends. A missing folder is created. */
  dataDir: string;
  log: Logger;
  /** The maximum number of connections for requests. One third of this number is added for long work. */
  poolSize?: number;
  /** The maximum number of connections for gates. */
  gatePoolSize?: number;
  /** How long the start waits for PostgreSQL to answer, in seconds. */
  startWaitSeconds?: number;
}
