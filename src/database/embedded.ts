import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { PrismaClient } from '../prisma/generated/client/client.ts';
import { columnTypes } from './column-types.ts';
import type { Database, Statement } from './db.ts';
import { answersInTime, TRANSACTION_OPTIONS } from './db-session.ts';
import { lockFolder } from './folder-lock.ts';
import { withWholeScripts } from './migration-adapters.ts';

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
 * Opens the PostgreSQL that runs inside of this process.
 *
 * @param dataDir its folder, or `memory://`
 * @throws when another process uses the folder
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
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
