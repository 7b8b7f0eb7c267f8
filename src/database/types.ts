import type { Logger } from 'pino';
import type { Prisma, PrismaClient } from '../../prisma/generated/client/client.ts';

/** A Prisma client inside a transaction. */
export type Transaction = Prisma.TransactionClient;

/**
 * An SQL statement with a name. Each connection prepares only one statement for each name, so all statements with the
 * same name must have the same SQL text.
 */
export interface Statement {
  name: string;
  text: string;
}

/**
 * Runs hand-written SQL statements. Hand-written SQL is used where one statement does the work of several Prisma calls.
 */
export interface Sql {
  /**
   * Runs one SQL statement and returns its rows. On PostgreSQL and on the embedded database, the column values have the
   * following JavaScript types:
   *
   * - a timestamptz becomes a JavaScript Date;
   * - int2, int4 and float8 become numbers;
   * - int8 and numeric become strings;
   * - a bool becomes a boolean, and jsonb is parsed;
   * - text[] becomes string[], and an enum becomes a string.
   *
   * To read the result of an SQL `count` as a JavaScript number, cast the result to `::int` in the SQL statement. To
   * read an array of enum values as string[], cast the array to `::text[]`.
   *
   * An SQL parameter is a Date, string, number, boolean or null. If the SQL type of the parameter is an array such as
   * `text[]`, pass an array of Dates, strings, numbers, booleans and nulls. Pass a jsonb value as `JSON.stringify(…)`,
   * because the package pg sends a JavaScript array as a PostgreSQL array.
   *
   * @throws the error of the database driver, whose `code` is the SQLSTATE; see `isUniqueViolation`.
   */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** A connection for migrations, on which statements have no time limit. */
export interface MigrationConnection {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs a script with several SQL statements. The gateway sends the whole SQL script to PostgreSQL in one message, and
   * does not split it into statements.
   */
  runScript(script: string): Promise<void>;
}

/** Access to a database with Prisma (`prisma`) and with hand-written SQL (`sql`), over the same connections. */
export interface Connections {
  prisma: PrismaClient;
  sql: Sql;
}

/** The connections to a standby database. */
export interface Standby extends Connections {
  /**
   * Checks over a separate connection whether the standby answers.
   *
   * @throws when the standby does not answer within about one second
   */
  probe(): Promise<unknown>;
}

/**
 * Whether the database answers. `read-only` means that the database answers queries but rejects writes, as a standby
 * does.
 */
export type DatabaseState = 'ok' | 'read-only' | 'unavailable';

/** The current size and use of a connection pool. */
export interface PoolState {
  /** The kind of work for which the gateway uses the connection pool. */
  pool: 'general' | 'gates' | 'heavy';
  /** The maximum number of connections in the connection pool. */
  size: number;
  inUse: number;
  /** The number of queries and transactions that wait for a database connection. */
  waiting: number;
}

/** The database of a gateway process. The fields `prisma` and `sql` use the general connection pool. */
export interface Database extends Connections {
  /** The database connections that serve gate decisions and the look-ups of API keys. */
  gates: Connections;
  /** The connections for heavy work, such as imports, usage reports and the removal of expired records. */
  heavy: Connections;
  /** A read-only copy of the database, if a standby is configured (see standby-reads.ts). */
  standby: Standby | undefined;
  /**
   * The kind of database. `embedded` means that the database runs inside this process. All work on the embedded
   * database uses one connection, so transactions run one after the other.
   */
  kind: 'postgresql' | 'embedded';
  /**
   * Checks the state of the database. On a PostgreSQL server, the method `state` checks the database over a separate
   * connection. Checking the database takes at most about one second, and never throws an error.
   */
  state(): Promise<DatabaseState>;
  /**
   * Returns the current size and use of all connection pools. For the embedded database, which has no connection pools,
   * `pools` returns an empty list.
   */
  pools(): PoolState[];
  /**
   * Waits for the running SQL statements, closes the database connections, and unlocks the folder of the embedded
   * database.
   */
  close(): Promise<void>;
  /**
   * Runs `work` while this process holds the migration lock. On a PostgreSQL server, the function `work` gets a
   * separate database connection. Before `work` starts, `withMigrationLock` waits until other gateway processes and
   * `prisma migrate` have finished their migrations.
   */
  withMigrationLock<Result>(work: (connection: MigrationConnection) => Promise<Result>): Promise<Result>;
}

/** The environment variables with the URL of the database. */
export type DatabaseUrlVariable = 'DATABASE_URL' | 'DIRECT_DATABASE_URL';

/**
 * The address and the settings of the database. If `databaseUrl` is set, the gateway uses the PostgreSQL server at this
 * address (version 15 or later). If `databaseUrl` is not set, the gateway uses the embedded PostgreSQL in the folder
 * `dataDir`.
 */
export interface DatabaseOptions {
  databaseUrl?: string | undefined;
  /**
   * The environment variable that contains `databaseUrl`, for log lines and error messages; by default, `DATABASE_URL`.
   */
  urlVariable?: DatabaseUrlVariable;
  /**
   * The address at which the gateway reaches the PostgreSQL server directly, without the pooler whose address is in
   * `databaseUrl`. The gateway uses this direct address for migrations. If `directDatabaseUrl` is set, `databaseUrl`
   * must be the address of a pooler.
   */
  directDatabaseUrl?: string | undefined;
  /** The address of a standby server of PostgreSQL, for reads whose data may be some seconds old. */
  readUrl?: string | undefined;
  /** Whether the gateway uses prepared statements. Some poolers do not support prepared statements. */
  prepareStatements?: boolean;
  /**
   * The folder of the embedded database, which is created if it is missing. If the folder is `memory://`, the data is
   * lost when the process ends.
   */
  dataDir: string;
  log: Logger;
  /**
   * The maximum number of connections in the general connection pool, which all requests except gate requests use. For
   * heavy work, such as imports, a gateway process opens additional connections: at most a third of `poolSize`, rounded
   * up.
   */
  poolSize?: number;
  /** The maximum number of connections in the connection pool for gate requests. */
  gatePoolSize?: number;
  /** How long a gateway process that is starting waits for PostgreSQL to answer, in seconds. */
  startWaitSeconds?: number;
}
