import { existsSync } from 'node:fs';
import { chmod, rename, rm, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { PrismaClient } from '../../prisma/generated/client/client.ts';
import { columnTypes } from './column-types.ts';
import { EmbeddedAdapters } from './embedded-adapters.ts';
import { cannotOpen, endProcess, onlyFatalErrors, serverLogReader } from './embedded-failures.ts';
import { noOwnCheckpoints, startMaintenance } from './embedded-maintenance.ts';
import { tracedAdapters, tracedSql } from './traced-statements.ts';
import { shareConnection, type SharedConnection } from './shared-connection.ts';
import type { Connections, Database, Statement } from './types.ts';
import { answersInTime, TRANSACTION_OPTIONS } from './session.ts';
import { lockFolder } from './folder-lock.ts';
import { PreparedPGlite } from './prepared-pglite.ts';
import { DatabaseStartError } from './start-error.ts';

/**
 * The parsers of the package pg for column values, which PGlite uses instead of its own parsers. For example, PGlite's
 * own parsers would return a NULL inside an array as the text "NULL". The package pg does not name the array types, so
 * this code lists the numbers (OIDs) of PostgreSQL's array types. The element types are bool, int2, int4, text,
 * varchar, int8, float8, timestamptz, numeric, uuid and jsonb.
 */
const PG_PARSERS = Object.fromEntries(
  [
    ...Object.values(pg.types.builtins),
    ...[1000, 1005, 1007, 1009, 1015, 1016, 1022, 1185, 1231, 2951, 3807],
  ].map((oid) => [oid, columnTypes.getTypeParser(oid)]),
);

/**
 * The size of PostgreSQL's page cache (`shared_buffers`) in MiB. The configured page cache is half as large as PGlite's
 * default, because a page cache occupies memory even in an idle process. A small page cache is enough, because the
 * operating system also caches the database files.
 */
const sharedBuffersMebibytes = 64;

/**
 * Opens the files of an embedded database. If a fatal error occurs in the embedded database after it has been opened,
 * the process exits.
 */
async function openFiles(dataDir: string): Promise<PGlite> {
  let startError: string | undefined;
  let onFatalError = (message: string) => void (startError ??= message);
  const pglite = new PreparedPGlite({
    dataDir,
    extensions: { serverLogReader: serverLogReader((message) => onFatalError(message)) },
    startParams: [
      ...PGlite.defaultStartParams,
      ...noOwnCheckpoints,
      ...onlyFatalErrors,
      '-c',
      `shared_buffers=${sharedBuffersMebibytes}MB`,
    ],
  });
  await pglite.waitReady.catch((cause: Error) => {
    throw new Error(startError ?? cause.message, { cause });
  });
  onFatalError = (message) => endProcess(dataDir, message);
  return pglite;
}

/**
 * Opens the embedded PostgreSQL (PGlite), which runs inside this process.
 *
 * @param dataDir the path of the database folder, or a `memory://` URL for a database in memory
 * @throws {DatabaseStartError} when another process uses the folder, or when the database cannot be opened
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
  if (dataDir.startsWith('memory://')) return databaseOver(await openFiles(dataDir), () => undefined);
  const folder = resolve(dataDir);
  const unlock = await lockFolder(folder);
  try {
    return await databaseOver(await openFolder(folder), unlock);
  } catch (cause) {
    unlock();
    const freeBytes = await statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    );
    throw new DatabaseStartError(cannotOpen(folder, (cause as Error).message, freeBytes), { cause });
  }
}

/**
 * Opens the files of the embedded database. Only the operating system user that runs the gateway can read the database
 * files. The function creates a new database in a temporary folder. When the database is complete, the function gives
 * the folder its final name. If the process ends before the database is complete, the next start removes the temporary
 * folder and creates the database again.
 */
async function openFolder(folder: string): Promise<PGlite> {
  // Without the umask 0o077, PGlite would create files that all users of the computer can read.
  process.umask(0o077);
  const files = join(folder, 'postgres');
  if (!existsSync(files)) {
    const unfinished = join(folder, 'postgres.unfinished');
    await rm(unfinished, { recursive: true, force: true });
    await (await openFiles(unfinished)).close();
    await rename(unfinished, files);
  }
  // An earlier version of the gateway created a folder that all users of the computer could read, so `chmod` changes
  // the permissions of the folder.
  await chmod(files, 0o700);
  return openFiles(files);
}

async function databaseOver(pglite: PGlite, unlock: () => void): Promise<Database> {
  // The database session uses UTC, because Prisma's adapter expects every time in UTC.
  await pglite.exec(`SET TimeZone TO 'UTC'`);
  const shared = shareConnection(pglite);
  const stopMaintenance = startMaintenance(shared.others);
  const connectionsOver = (client: SharedConnection['gates']): Connections => ({
    prisma: new PrismaClient({
      adapter: tracedAdapters(new EmbeddedAdapters(client)),
      transactionOptions: TRANSACTION_OPTIONS,
      errorFormat: 'minimal',
    }),
    sql: tracedSql({
      async query<Row>({ text }: Statement, values: readonly unknown[]) {
        const result = await client.query<Row>(text, [...values], { parsers: PG_PARSERS });
        return result.rows;
      },
    }),
  });
  const gates = connectionsOver(shared.gates);
  const others = connectionsOver(shared.others);
  const heavy = connectionsOver(shared.heavy);
  return {
    ...others,
    gates,
    heavy,
    standby: undefined,
    kind: 'embedded',
    state: () =>
      answersInTime(shared.gates.query('SELECT 1')).then(
        () => 'ok',
        () => 'unavailable',
      ),
    pools: () => [],
    async close() {
      await stopMaintenance();
      await Promise.all([gates, others, heavy].map(({ prisma }) => prisma.$disconnect()));
      await pglite.close();
      unlock();
    },
    // Migrations need no separate lock, because the lock of the database folder already excludes other processes.
    async withMigrationLock(work) {
      const result = await work({
        query: async <Row>(text: string, values: readonly unknown[] = []) =>
          (await pglite.query<Row>(text, [...values])).rows,
        runScript: async (script) => void (await pglite.exec(script)),
      });
      // By itself, PGlite reads the list of array types only when it opens the database. After a migration, PGlite must
      // read the list of array types again, because the migration may have created an array type.
      await pglite.refreshArrayTypes();
      return result;
    },
  };
}
