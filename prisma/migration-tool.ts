// This file implements `npm run migration:create NAME` and `npm run migration:check`, two commands for developers.
// `migration:create` and `migration:check` apply all migrations to an embedded database in memory, and compare the
// resulting tables with schema.prisma. Unlike `prisma migrate dev`, `migration:create` and `migration:check` need no
// database server and download no schema engine.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { readMigrations } from '../src/database/migrations.ts';
import { loadSchemaEngine, noFilters } from './schema-engine.ts';

const migrationsFolder = new URL('migrations/', import.meta.url);
const schemaFile = new URL('schema.prisma', import.meta.url);

/** The text that the schema engine returns when the migrations agree with schema.prisma. */
const EMPTY_DIFF = '-- This is an empty migration.';

/**
 * Compares two sets of tables: the tables that the migrations create, and the tables in schema.prisma.
 *
 * @returns the SQL statements that a new migration needs; an empty text when the migrations agree with schema.prisma
 */
async function missingSql(): Promise<string> {
  const pglite = await PGlite.create('memory://');
  try {
    for (const { script } of await readMigrations(migrationsFolder)) await pglite.exec(script);
    const engine = await loadSchemaEngine(new PrismaPGlite(pglite));
    const file = { path: fileURLToPath(schemaFile), content: await readFile(schemaFile, 'utf8') };
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: [file], configDir: fileURLToPath(new URL('.', schemaFile)) },
      to: { tag: 'schemaDatamodel', files: [file] },
      script: true,
      exitCode: null,
      filters: noFilters,
    });
    const sql = stdout?.trim() ?? '';
    return sql === EMPTY_DIFF ? '' : sql;
  } finally {
    await pglite.close();
  }
}

async function create(name: string): Promise<void> {
  await mkdir(migrationsFolder, { recursive: true });
  await writeFile(new URL('migration_lock.toml', migrationsFolder), 'provider = "postgresql"\n');
  const sql = await missingSql();
  if (sql === '') return console.log('schema.prisma and the migrations agree: nothing to write');
  const timestamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = new URL(`${timestamp}_${name}/`, migrationsFolder);
  await mkdir(folder);
  await writeFile(new URL('migration.sql', folder), `${sql}\n`);
  console.log(`wrote ${fileURLToPath(folder)}migration.sql`);
}

async function check(): Promise<void> {
  const sql = await missingSql();
  if (sql === '') return console.log('schema.prisma and the migrations agree');
  console.error(
    `schema.prisma and the migrations disagree; run "npm run migration:create NAME". Missing:\n\n${sql}`,
  );
  process.exitCode = 1;
}

const [command, name] = process.argv.slice(2);
if (command === 'check') await check();
else if (command === 'create' && /^[a-z0-9_]+$/.test(name ?? '')) await create(name!);
else {
  console.error('usage: migration-tool.ts check | create NAME (NAME in lower case, digits and _)');
  process.exitCode = 1;
}
