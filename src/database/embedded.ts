import { existsSync } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { PrismaClient } from '../../prisma/generated/client/client.ts';
import { columnTypes } from './column-types.ts';
import { tracedAdapters, tracedSql } from './traced-statements.ts';
import { shareConnection, type SharedConnection } from './embedded-turns.ts';
import type { Connections, Database, Statement } from './types.ts';
import { answersInTime, TRANSACTION_OPTIONS } from './session.ts';
import { lockFolder } from './folder-lock.ts';
import { DatabaseStartError } from './start-error.ts';

/**
 * How pg reads the types that it knows, for PGlite, whose own way differs: a NULL inside an array becomes the
 * text "NULL". pg names the numbers of scalar types; of arrays: bool, int2, int4, text, varchar, int8, float8,
 * timestamptz, numeric, uuid, jsonb.
 */
const PG_PARSERS = Object.fromEntries(
  [
    ...Object.values(pg.types.builtins),
    ...[1000, 1005, 1007, 1009, 1015, 1016, 1022, 1185, 1231, 2951, 3807],
  ].map((oid) => [oid, columnTypes.getTypeParser(oid)]),
);

/**
 * The memory for pages of the database, in MiB: half of what it takes by itself, which an idle process would pay for. The
 * system keeps the files in its own memory, too.
 */
const sharedBuffersMebibytes = 64;

const openFiles = (dataDir: string): Promise<PGlite> =>
  PGlite.create({
    dataDir,
    startParams: [...PGlite.defaultStartParams, '-c', `shared_buffers=${sharedBuffersMebibytes}MB`],
  });

/**
 * Opens the PostgreSQL that runs inside of this process.
 *
 * @param dataDir its folder, or `memory://`
 * @throws {DatabaseStartError} when another process uses the folder, or when it cannot be opened
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
  if (dataDir.startsWith('memory://')) return databaseOver(await openFiles(dataDir), () => undefined);
  const folder = resolve(dataDir);
  const unlock = await lockFolder(folder);
  try {
    return await databaseOver(await openFolder(folder), unlock);
  } catch (cause) {
    unlock();
    const reason = (cause as Error).message;
    throw new DatabaseStartError(
      `DATA_DIR ${folder} cannot be opened: the folder postgres in it is damaged or of another version ` +
        `(${reason}). Restore it from a backup, or remove it to start with an empty database.`,
      { cause },
    );
  }
}

/**
 * Opens the files of the database, which only their owner can read. New ones are made aside and renamed when
 * they are complete: a first start that is broken off leaves nothing that the next one takes for a database.
 */
async function openFolder(folder: string): Promise<PGlite> {
  // PGlite makes its files for everybody to read, and knows no setting for it.
  process.umask(0o077);
  const files = join(folder, 'postgres');
  if (!existsSync(files)) {
    const unfinished = join(folder, 'postgres.unfinished');
    await rm(unfinished, { recursive: true, force: true });
    await (await openFiles(unfinished)).close();
    await rename(unfinished, files);
  }
  // Earlier versions made it readable.
  await chmod(files, 0o700);
  return openFiles(files);
}

async function databaseOver(pglite: PGlite, unlock: () => void): Promise<Database> {
  // As in openPostgres: Prisma's adapter takes every time for UTC.
  await pglite.exec(`SET TimeZone TO 'UTC'`);
  const shared = shareConnection(pglite);
  const connectionsOver = (client: SharedConnection['gates']): Connections => ({
    prisma: new PrismaClient({
      // The adapter asks for a whole PGlite, and uses what the client has.
      adapter: tracedAdapters(new PrismaPGlite(client as PGlite)),
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
      await Promise.all([gates, others, heavy].map(({ prisma }) => prisma.$disconnect()));
      await pglite.close();
      unlock();
    },
    // The lock of the folder keeps other processes out already.
    async withMigrationLock(work) {
      const result = await work({
        query: async <Row>(text: string, values: readonly unknown[] = []) =>
          (await pglite.query<Row>(text, [...values])).rows,
        runScript: async (script) => void (await pglite.exec(script)),
      });
      // PGlite reads the types of arrays when it opens: without this it cannot write those that a migration made.
      await pglite.refreshArrayTypes();
      return result;
    },
  };
}
