// For developers: `npm run migration:create NAME` and `npm run migration:check`.
//
// Both compare schema.prisma with an empty embedded database that has all migrations applied; so neither
// needs the schema engine binary that `prisma migrate dev` downloads, nor a server.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openDatabase } from '../src/db.ts';
import { applyMigrations, loadSchemaEngine, MIGRATIONS_FOLDER, NO_FILTERS } from '../src/migrations.ts';

const SCHEMA = new URL('schema.prisma', import.meta.url);

/** What the engine prints when there is no difference. */
const EMPTY_DIFF = '-- This is an empty migration.';

/** Compares the migrations with schema.prisma. Returns the SQL that is missing, '' when they agree. */
async function missingSql(): Promise<string> {
  const log = pino({ level: 'warn' });
  const database = await openDatabase({ dataDir: 'memory://', log });
  try {
    await applyMigrations(database, log);
    return await database.withMigrationLock(async (adapters) => {
      const engine = await loadSchemaEngine(adapters);
      const file = { path: fileURLToPath(SCHEMA), content: await readFile(SCHEMA, 'utf8') };
      const { stdout } = await engine.diff({
        from: { tag: 'schemaDatasource', files: [file], configDir: fileURLToPath(new URL('.', SCHEMA)) },
        to: { tag: 'schemaDatamodel', files: [file] },
        script: true,
        exitCode: null,
        filters: NO_FILTERS,
      });
      const sql = stdout?.trim() ?? '';
      return sql === EMPTY_DIFF ? '' : sql;
    });
  } finally {
    await database.close();
  }
}

async function create(name: string): Promise<void> {
  await mkdir(MIGRATIONS_FOLDER, { recursive: true });
  await writeFile(new URL('migration_lock.toml', MIGRATIONS_FOLDER), 'provider = "postgresql"\n');
  const sql = await missingSql();
  if (sql === '') return console.log('schema.prisma and the migrations agree: nothing to write');
  const timestamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = new URL(`${timestamp}_${name}/`, MIGRATIONS_FOLDER);
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
