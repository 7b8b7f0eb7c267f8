// `npm run generate:client`: runs `prisma generate`, on any platform and without a download. Start it through npm,
// which puts the generators on the PATH.
//
// Generating needs no schema engine, yet the CLI fetches one from a host that many networks do not reach.
// Naming an executable that exists keeps it from trying. The variable is set for this one child alone: with
// it `prisma migrate` and `prisma db push` would do nothing and report success.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');

const { status, error } = spawnSync(process.execPath, [cli, 'generate'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
  stdio: 'inherit',
});
if (error) console.error(error.message);
process.exitCode = status ?? 1;
