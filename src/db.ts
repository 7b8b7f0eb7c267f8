import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import type { SqlDriverAdapter, SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Logger } from 'pino';
import { PrismaClient } from '../prisma/generated/client/client.ts';

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

/** How long a caller waits for a connection before the request fails. */
const CONNECTION_TIMEOUT_MS = 2_000;
/** Ends a statement on the server, so that a forgotten one does not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 30_000;
const PING_TIMEOUT_MS = 1_000;

/**
 * The advisory lock of migrations, any number of our own. The schema engine takes Prisma's (72707369) inside it
 * and so keeps `prisma migrate` out; alone that one would not do, since it gives up waiting after 10 s.
 */
const MIGRATION_LOCK = 7_205_759_403;

/** Distinct statements of Prisma that are prepared; lists of changing length must not fill the server's memory. */
const MAX_NAMED_STATEMENTS = 500;

/**
 * How pg reads the types that it knows, for PGlite, whose own way differs: a NULL inside an array becomes the
 * text "NULL". pg names the numbers of scalar types; of arrays: bool, int2, int4, text, varchar, int8, float8,
 * timestamptz, numeric, uuid, jsonb.
 */
const PG_PARSERS = Object.fromEntries(
  [
    ...Object.values(pg.types.builtins),
    ...[1000, 1005, 1007, 1009, 1015, 1016, 1022, 1185, 1231, 2951, 3807],
  ].map((oid) => [oid, pg.types.getTypeParser(oid)]),
);

/**
 * A transaction waits this long for its turn and may take this long. Prisma's defaults (2 s, 5 s) are too
 * short for an import, and for fifty writers in a row on the embedded database.
 */
const TRANSACTION_OPTIONS = { maxWait: 10_000, timeout: 30_000 };

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

async function openPostgres(databaseUrl: string, log: Logger, poolSize: number): Promise<Database> {
  const connection = {
    connectionString: databaseUrl,
    application_name: 'parking-gateway',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
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
        const result = await pool.query({ name, text, values: [...values] });
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

async function openEmbedded(dataDir: string): Promise<Database> {
  const inMemory = dataDir.startsWith('memory://');
  const unlock = inMemory ? async () => undefined : await lockFolder(resolve(dataDir));
  try {
    const pglite = await PGlite.create({
      dataDir: inMemory ? dataDir : join(resolve(dataDir), 'postgres'),
    });
    // As in openPostgres: Prisma's adapter takes every time for UTC.
    await pglite.exec(`SET TimeZone TO 'UTC'`);
    const adapters = new PrismaPGlite(pglite);
    const prisma = new PrismaClient({ adapter: adapters, transactionOptions: TRANSACTION_OPTIONS });
    return {
      prisma,
      kind: 'embedded',
      sql: {
        async query<Row>({ text }: Statement, values: readonly unknown[]) {
          const result = await pglite.query<Row>(text, [...values], { parsers: PG_PARSERS });
          return result.rows;
        },
      },
      ping: () => answersInTime(pglite.query('SELECT 1')),
      async close() {
        await prisma.$disconnect();
        await pglite.close();
        await unlock();
      },
      // The lock of the folder keeps other processes out already.
      withMigrationLock: (work) => work(withWholeScripts(adapters, (script) => pglite.exec(script))),
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/**
 * Adapters that run a script as the server takes it, in one transaction. The adapter of pg cuts scripts at
 * every semicolon, comments and function bodies included; the one of PGlite does not wait for the end, and
 * an error in it ends the process.
 */
function withWholeScripts(
  adapters: SqlMigrationAwareDriverAdapterFactory,
  run: (script: string) => Promise<unknown>,
): SqlMigrationAwareDriverAdapterFactory {
  return {
    provider: adapters.provider,
    adapterName: adapters.adapterName,
    connectToShadowDb: () => adapters.connectToShadowDb(),
    async connect(): Promise<SqlDriverAdapter> {
      const adapter = await adapters.connect();
      adapter.executeScript = async (script) => {
        try {
          await run(script);
        } catch (error) {
          throw asAdapterError(error);
        }
      };
      return adapter;
    },
  };
}

/** The form in which the schema engine keeps SQLSTATE and message. */
function asAdapterError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError || (error instanceof Error && 'severity' in error))) return error;
  const { code = '', severity = '', message, detail, column, hint } = error as pg.DatabaseError;
  return new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, column, hint });
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

async function answersInTime(answer: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = sleep(PING_TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`the database did not answer within ${PING_TIMEOUT_MS} ms`);
  });
  // The loser of the race must not become an unhandled rejection.
  late.catch(() => undefined);
  answer.catch(() => undefined);
  try {
    await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}

/** Folders that this process has locked: a lock with our own pid is otherwise one of an earlier life. */
const lockedFolders = new Set<string>();

/**
 * Takes the folder for this process, since PGlite lets two processes ruin it. A lock whose process is gone
 * is taken over.
 *
 * @returns what gives the folder back.
 */
async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'gateway.lock');
  await mkdir(folder, { recursive: true });
  for (;;) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(identityOf(process.pid));
      await file.close();
      lockedFolders.add(folder);
      return async () => {
        lockedFolders.delete(folder);
        await rm(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = await readFile(path, 'utf8').catch(() => '');
    const pid = Number.parseInt(owner, 10);
    const inUse = pid === process.pid ? lockedFolders.has(folder) : pid > 0 && owner === identityOf(pid);
    if (inUse) {
      throw new Error(
        `DATA_DIR ${folder} is in use by process ${pid}: one process at a time can own an embedded database. ` +
          `Stop it, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL.`,
      );
    }
    await rm(path, { force: true });
  }
}

/** The pid and, where /proc tells, the start of a process; '' when there is none. Pids come back, starts do not. */
function identityOf(pid: number): string {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to someone else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return '';
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22 of proc(5); the second field, the command, is in parentheses and may hold spaces.
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return String(pid);
  }
}
