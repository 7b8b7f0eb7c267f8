import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import type { Database } from '../../src/database/types.ts';
import { projectFolder } from './documentation.ts';
import { shortProcessOptions } from './gateway-process.ts';
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.ts';

/** Opens a new database for one test, and removes the database after the test. */
export async function openScratchDatabase(options?: {
  migrated: boolean;
}): Promise<Database & { scratch: ScratchDatabase }> {
  const scratch = await createScratchDatabase(options);
  const database = await openDatabase({ ...scratch, log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await database.close();
    await scratch.drop();
  });
  return { ...database, scratch };
}

/** Runs the migrations in a new process, like `npm run migrate`. */
export async function runMigrate(
  scratch: Pick<ScratchDatabase, 'databaseUrl' | 'dataDir'>,
): Promise<{ code: number; output: string }> {
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: scratch.databaseUrl,
    DATA_DIR: scratch.dataDir,
    APP_ENV: 'development',
    LOG_LEVEL: 'info',
  };
  const run = promisify(execFile)(process.execPath, [...shortProcessOptions, 'dist/migrate.js'], {
    cwd: projectFolder,
    env,
  });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );
}
