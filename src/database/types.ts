import type { Logger } from 'pino';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';

/** A statement with a name, prepared once per connection. One name stands for one text, for good. */
export interface Statement {
  name: string;
  text: string;
}

/** Statements written by hand, for the paths where one statement must do what Prisma does in several. */
export interface Sql {
  /**
   * Runs one statement and returns its rows, in the same JavaScript types on both databases: timestamptz is a
   * Date, int2, int4 and float8 are numbers, text[] is string[], jsonb is parsed, bool is boolean, int8 and
   * numeric are strings (cast a count to `::int`), an enum is a string; cast an array of an enum to `::text[]`.
   *
   * Values: Date, string, number, boolean, null, and arrays of them for `$1::text[]` and the like, nulls
   * inside included. Give jsonb as `JSON.stringify(…)`, since pg takes an array for a PostgreSQL array.
   *
   * @throws the driver's error, with `code` (SQLSTATE); see `isUniqueViolation`.
   */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

/** The connection of migrations, without the time limit for statements. */
export interface MigrationConnection {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a script of any number of statements as the server takes it, not cut into statements before. */
  runScript(script: string): Promise<void>;
}

/** Prisma and hand-written statements over the same connections. */
export interface Connections {
  prisma: PrismaClient;
  sql: Sql;
}

/** `read-only`: it answers, and refuses changes, as a standby does. */
export type DatabaseState = 'ok' | 'read-only' | 'unavailable';

/** A pool of connections as it is now. */
export interface PoolState {
  /** What its connections are for. */
  pool: 'general' | 'gates' | 'heavy';
  /** The most connections that it opens. */
  size: number;
  inUse: number;
  /** How much work waits for a connection. */
  waiting: number;
}

/** The one database of a process. What it has itself is for requests in general. */
export interface Database extends Connections {
  /** For what a gate waits for: its key and its decision. Nothing else may take these connections. */
  gates: Connections;
  /** For what takes long: imports, usage, removing what is expired. It cannot take the connections of the rest. */
  heavy: Connections;
  /** A copy of the database that follows it and takes no writes, if there is one. See history-reads.ts. */
  standby: Connections | undefined;
  /** `embedded` runs inside this process and serialises transactions; it has one connection for everything. */
  kind: 'postgresql' | 'embedded';
  /** Answers within about a second, over a connection of its own. Never throws. */
  state(): Promise<DatabaseState>;
  /** The pools of connections; an embedded database has none. */
  pools(): PoolState[];
  /** Waits for what runs, then gives up the connections or the folder. */
  close(): Promise<void>;
  /**
   * Runs `work` on a connection of its own while no other gateway, and no `prisma migrate`, migrates this
   * database; waits for its turn.
   */
  withMigrationLock<Result>(work: (connection: MigrationConnection) => Promise<Result>): Promise<Result>;
}

/** Where the data is. `databaseUrl` (PostgreSQL 15 or later) goes before `dataDir` (embedded PostgreSQL). */
export interface DatabaseOptions {
  databaseUrl?: string | undefined;
  /** The same server without a pooler between, for migrations. Says that `databaseUrl` is a pooler. */
  directDatabaseUrl?: string | undefined;
  /** A standby of it, for reads that may be some seconds old. */
  readUrl?: string | undefined;
  /** Whether statements may have names on the server; a pooler may not keep them. */
  prepareStatements?: boolean;
  /** A folder, made when missing, or `memory://` for data that ends with the process. */
  dataDir: string;
  log: Logger;
  /** Most connections for requests; a third as many more are for heavy work alone. */
  poolSize?: number;
  /** Most connections for gates. */
  gatePoolSize?: number;
  /** How long to try when PostgreSQL does not answer. */
  startWaitSeconds?: number;
}
