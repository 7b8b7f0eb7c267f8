import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type { Logger } from 'pino';
import type { PrismaClient } from '../prisma/generated/client/client.ts';
import { openEmbedded } from './db-embedded.ts';
import { openPostgres } from './db-postgres.ts';

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

/** The one database of a process: Prisma and hand-written statements over the same connections. */
export interface Database {
  prisma: PrismaClient;
  sql: Sql;
  /** `embedded` runs inside this process and serialises transactions. */
  kind: 'postgresql' | 'embedded';
  /** Answers within about a second, or throws. */
  ping(): Promise<void>;
  /** Waits for what runs, then gives up the connections or the folder. */
  close(): Promise<void>;
  /**
   * Runs `work` while no other gateway migrates this database; waits for its turn. The adapters have a
   * connection of their own, without the time limit for statements.
   */
  withMigrationLock<Result>(
    work: (adapters: SqlMigrationAwareDriverAdapterFactory) => Promise<Result>,
  ): Promise<Result>;
}

/** Where the data is. `databaseUrl` (PostgreSQL 15 or later) goes before `dataDir` (embedded PostgreSQL). */
export interface DatabaseOptions {
  databaseUrl?: string;
  /** A folder, made when missing, or `memory://` for data that ends with the process. */
  dataDir: string;
  log: Logger;
  /** Most connections that this process opens to PostgreSQL. */
  poolSize?: number;
}

/**
 * Opens PostgreSQL when `databaseUrl` is set, the embedded database otherwise. Applies no migration.
 *
 * @throws when PostgreSQL does not answer, or when another process uses the folder.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.databaseUrl === undefined
    ? openEmbedded(options.dataDir)
    : openPostgres(options.databaseUrl, options.log, options.poolSize ?? 10);
}
