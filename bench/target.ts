import { cpus, totalmem } from 'node:os';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { openDatabase } from '../src/database/open.ts';
import type { Database } from '../src/database/types.ts';
import type { Measured } from './recorded.ts';

/** The kind of database that the gateway uses during the benchmark. */
export type DatabaseKind = 'PostgreSQL and Redis' | 'embedded';

/** The database for one benchmark run. At first, all migrations are applied, and the database is otherwise empty. */
export interface Target {
  kind: DatabaseKind;
  databaseUrl: string | undefined;
  pepper: string;
  /** The environment variables of a gateway that uses the database of this benchmark run. */
  env: NodeJS.ProcessEnv;
  /**
   * Opens the database of the benchmark run in the current process. Only one process at a time can open an embedded
   * database.
   */
  open(): Promise<Database>;
  /** Opens an additional, empty embedded database. When the caller closes this database, the database is deleted. */
  openEmbedded(): Promise<Database>;
  drop(): Promise<void>;
}

const log = pino({ level: 'warn' });

/**
 * Creates the database for a benchmark run: on the server in `DATABASE_URL`, or an embedded database. Without the
 * option `embedded`, the function needs `DATABASE_URL` and `REDIS_URL`. If the function needs `DATABASE_URL` and
 * `REDIS_URL`, and one of them is not set, the process exits.
 */
export async function createTarget({ embedded = false }: { embedded?: boolean } = {}): Promise<Target> {
  const { DATABASE_URL, REDIS_URL } = process.env;
  if (!embedded && (!DATABASE_URL || !REDIS_URL)) {
    console.error('Set DATABASE_URL and REDIS_URL, or use --embedded to measure the embedded database');
    process.exit(1);
  }
  // The function `createScratchDatabase` creates an embedded database only if the environment variable `DATABASE_URL`
  // is not set.
  if (embedded) delete process.env.DATABASE_URL;
  const { createEmbeddedDatabase, createScratchDatabase } =
    await import('../test/support/scratch-database.ts');
  const { databaseUrl, dataDir, drop } = await createScratchDatabase();
  const pepper = 'the-pepper-of-the-benchmark-is-not-a-secret';
  return {
    kind: embedded ? 'embedded' : 'PostgreSQL and Redis',
    databaseUrl,
    pepper,
    env: {
      ...(embedded ? { DATA_DIR: dataDir } : { DATABASE_URL: databaseUrl, REDIS_URL }),
      KEY_PEPPER: pepper,
    },
    open: () => openDatabase({ databaseUrl, dataDir, poolSize: 2, log }),
    async openEmbedded() {
      const other = await createEmbeddedDatabase();
      const database = await openDatabase({ dataDir: other.dataDir, poolSize: 2, log });
      return {
        ...database,
        async close() {
          await database.close();
          await other.drop();
        },
      };
    },
    drop,
  };
}

/** Returns the date, the machine and the software versions of a benchmark run. */
export async function describeRun({ kind }: Target, { sql }: Database): Promise<Measured> {
  const [row] = await sql.query<{ server_version: string }>({ name: '', text: 'SHOW server_version' }, []);
  const version = row!.server_version.split(' ')[0];
  const [cpu] = cpus();
  return {
    at: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`,
    database:
      kind === 'embedded'
        ? `embedded PostgreSQL ${version}`
        : `PostgreSQL ${version}, Redis ${await versionOfRedis(process.env.REDIS_URL!)}`,
  };
}

async function versionOfRedis(url: string): Promise<string> {
  const redis = new Redis(url);
  try {
    return (await redis.info('server')).match(/redis_version:(\S+)/)?.[1] ?? 'unknown';
  } finally {
    redis.disconnect();
  }
}
