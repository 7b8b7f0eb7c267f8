import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import type { Logger } from 'pino';
import type { Database, Sql, Statement } from './db.ts';

/** One folder of prisma/migrations, in Prisma's layout. */
export interface Migration {
  /** The folder's name: `<timestamp>_<what it does>`. Names sort in the order of application. */
  name: string;
  script: string;
  /** SHA-256 of the script in hex, as Prisma records it. */
  checksum: string;
}

interface Application {
  name: string;
  checksum: string;
  finished: boolean;
}

/** The migrations of this build. The bundle in dist/ lies as deep as src/. */
export const MIGRATIONS_FOLDER = new URL('../prisma/migrations/', import.meta.url);

/** No table or enum is kept out of the comparison with schema.prisma. */
export const NO_FILTERS = { externalTables: [], externalEnums: [] };

const HISTORY_EXISTS: Statement = {
  name: 'migration_history_exists',
  text: `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS "exists"`,
};

const HISTORY: Statement = {
  name: 'migration_history',
  text: `SELECT migration_name AS "name", checksum, finished_at IS NOT NULL AS "finished"
    FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
};

/**
 * Brings the database to the newest migration, as `prisma migrate deploy` would: same files, same table
 * `_prisma_migrations`. Several processes may call it at once; one applies, the others wait for it. Costs two
 * short queries when nothing is pending.
 *
 * @returns the names of the migrations that this call applied.
 * @throws when an applied migration was edited since, when an earlier one failed half-way, or when one fails.
 */
export async function applyMigrations(
  database: Database,
  log: Logger,
  folder = MIGRATIONS_FOLDER,
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  if (!isPending(migrations, await readHistory(database.sql), log)) return [];

  return database.withMigrationLock(async (adapters) => {
    // Who waited for the lock finds the work done. Only now is an unfinished migration a failed one.
    const history = await readHistory(database.sql);
    if (!isPending(migrations, history, log)) return [];
    const failed = history.find(({ finished }) => !finished);
    if (failed) {
      throw new Error(
        `migration ${failed.name} failed earlier. Repair the database, then mark the migration with ` +
          `"prisma migrate resolve --rolled-back ${failed.name}" (or --applied) and start again.`,
      );
    }
    const engine = await loadSchemaEngine(adapters);
    try {
      const list = toMigrationList(migrations, folder);
      const { appliedMigrationNames } = await engine.applyMigrations({
        migrationsList: list,
        filters: NO_FILTERS,
      });
      log.info({ migrations: appliedMigrationNames }, 'migrations applied');
      return appliedMigrationNames;
    } catch (error) {
      // The engine's text has the name of the migration and the reason.
      throw new Error(`applying the migrations failed: ${(error as Error).message}`, { cause: error });
    } finally {
      engine.free();
    }
  });
}

/**
 * Reads the migrations of a folder in the order of application.
 *
 * @throws when the folder or a script is missing.
 */
export async function readMigrations(folder = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(new URL(`${name}/migration.sql`, folder), 'utf8');
      return { name, script, checksum: createHash('sha256').update(script).digest('hex') };
    }),
  );
}

/** Starts Prisma's schema engine, the WebAssembly build that needs no binary, on connections of `adapters`. */
export async function loadSchemaEngine(
  adapters: SqlMigrationAwareDriverAdapterFactory,
): Promise<SchemaEngine> {
  const { SchemaEngine } = await (bindings ??= loadBindings());
  return SchemaEngine.new(
    { datamodels: undefined },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(adapters),
  );
}

/** Once per process, since the bindings hold one WebAssembly instance; on demand, since a restart rarely needs it. */
let bindings: ReturnType<typeof loadBindings> | undefined;

async function loadBindings() {
  const module = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const packageFolder = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
  const wasm = await readFile(join(packageFolder, 'schema_engine_bg.wasm'));
  const imports = Object.entries(module).map(([name, value]) =>
    // The engine never clears its timers; one of 10 s for its lock would hold back the end of `npm run migrate`.
    name.startsWith('__wbg_setTimeout') ? [name, unreferencedTimeout] : [name, value],
  );
  const { instance } = await WebAssembly.instantiate(wasm, {
    './schema_engine_bg.js': Object.fromEntries(imports),
  });
  module.__wbg_set_wasm(instance.exports);
  (instance.exports as unknown as { __wbindgen_start(): void }).__wbindgen_start();
  return module;
}

function unreferencedTimeout(callback: () => void, milliseconds: number): NodeJS.Timeout {
  return setTimeout(callback, milliseconds).unref();
}

function isPending(migrations: Migration[], history: Application[], log: Logger): boolean {
  const applied = new Map(
    history.filter(({ finished }) => finished).map(({ name, checksum }) => [name, checksum]),
  );
  const edited = migrations.find(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum);
  if (edited) {
    throw new Error(
      `migration ${edited.name} was edited after it had been applied to this database. Restore its ` +
        `migration.sql and put the change in a new migration.`,
    );
  }
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = history.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (unknown.length > 0) log.warn({ migrations: unknown }, 'the database has migrations of a newer version');
  return history.some(({ finished }) => !finished) || migrations.some(({ name }) => !applied.has(name));
}

async function readHistory(sql: Sql): Promise<Application[]> {
  const [row] = await sql.query<{ exists: boolean }>(HISTORY_EXISTS, []);
  return row?.exists ? sql.query<Application>(HISTORY, []) : [];
}

/** The migrations in the form that the schema engine takes. */
export function toMigrationList(migrations: Migration[], folder = MIGRATIONS_FOLDER): MigrationList {
  return {
    baseDir: fileURLToPath(folder),
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  };
}
