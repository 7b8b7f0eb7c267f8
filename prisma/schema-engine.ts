// This file loads Prisma's schema engine, which only developers and tests use. Prisma's schema engine compares
// schema.prisma with a database, and checks which migrations have been applied to the database. The gateway itself
// applies migrations without Prisma's schema engine (src/database/migrations.ts).
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm';
import type { Migration } from '../src/database/migrations.ts';

/**
 * The filter options of Prisma's schema engine: the tables and enums that the engine must ignore. If the lists of
 * ignored tables and ignored enums are empty, the schema engine compares every table and every enum of the database
 * with schema.prisma.
 */
export const noFilters = { externalTables: [], externalEnums: [] };

/**
 * Starts the schema engine. Prisma's schema engine connects to the database through the driver adapters in `adapters`.
 * Prisma's schema engine runs as WebAssembly, so no executable file is needed.
 */
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

/**
 * The code of Prisma's schema engine. `bindings` is undefined until the process has loaded the code of Prisma's schema
 * engine. A process can load the code of Prisma's schema engine only once, because the code uses a single WebAssembly
 * instance.
 */
let bindings: ReturnType<typeof loadBindings> | undefined;

async function loadBindings() {
  const module = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const packageFolder = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
  const wasm = await readFile(join(packageFolder, 'schema_engine_bg.wasm'));
  const imports = Object.entries(module).map(([name, value]) =>
    // Prisma's schema engine never clears its timers, so the timers would keep the process running. Instead of
    // `setTimeout`, Prisma's schema engine therefore gets `unreferencedTimeout`, whose timers do not keep the process
    // running.
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

/** Returns the migrations in a folder as the data structure that Prisma's schema engine expects. */
export function toMigrationList(migrations: Migration[], folder: URL): MigrationList {
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
