import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { fencedBlocks, projectFolder, readPages } from '../support/documentation.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';

const run = promisify(execFile);

/** Returns those commands of docs/production.md that need nothing except a running gateway and an API key. */
function commandsOfThePage(): string {
  const page = readPages().find(({ path }) => path === 'docs/production.md')!;
  const blocks = fencedBlocks(page).filter(({ words }) => words.includes('run'));
  return blocks.map(({ text }) => text).join('\n');
}

test.runIf(testServerUrl && process.env.REDIS_URL)(
  'with the commands of docs/production.md, an operator sets up an empty database and gets a first gate decision',
  { timeout: 300_000 },
  async () => {
    const scratch = await createScratchDatabase({ migrated: false });
    onTestFinished(() => scratch.drop());
    const variables = {
      APP_ENV: 'production',
      DATABASE_URL: scratch.databaseUrl!,
      REDIS_URL: process.env.REDIS_URL!,
      KEY_PEPPER: randomBytes(48).toString('base64'),
    };
    const env = { ...process.env, ...variables };
    const bootstrap = await run(process.execPath, ['dist/bootstrap-key.js'], { cwd: projectFolder, env });
    const key = bootstrap.stdout.trim();
    const gateway = startGatewayProcess(variables);
    const url = await gateway.listening();
    onTestFinished(() => void gateway.end());

    const commands = ['--norc', '-euo', 'pipefail', '-c', commandsOfThePage()];
    const shell = { cwd: projectFolder, env: { ...process.env, KEY: key, PMS_URL: url } };
    const { stdout } = await run('bash', commands, shell);
    expect(stdout).toContain('LISTED');

    const locations = await fetch(`${url}/api/locations`, { headers: { 'X-API-Key': key } });
    expect(await locations.json()).toMatchObject({ data: [{ slug: 'marina-garage', capacity: 120 }] });
    expect(await gateway.end()).toBe(0);
  },
);
