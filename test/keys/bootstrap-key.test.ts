import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openGateway } from '../../src/gateway.ts';
import { projectFolder } from '../support/documentation.ts';
import { createScratchDatabase, migrationsFolder } from '../support/scratch-database.ts';

const scratch = await createScratchDatabase({ migrated: false });
afterAll(() => scratch.drop());
const { DATABASE_URL: _database, ...inherited } = process.env;
const databaseUrl = scratch.databaseUrl && { DATABASE_URL: scratch.databaseUrl };
const env = { ...inherited, ...databaseUrl, DATA_DIR: scratch.dataDir };

const bootstrap = () =>
  promisify(execFile)(process.execPath, ['dist/bootstrap-key.js'], { cwd: projectFolder, env });

test("the script keys:bootstrap creates an operator's API key only if no API key exists, and writes only the secret to standard output", async () => {
  const { stdout } = await bootstrap();
  expect(stdout).toMatch(/^pms_test_\w{49}\n$/);
  await expect(bootstrap()).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('There are already API keys for development'),
  });

  const gateway = await openGateway(loadConfig(env), pino({ level: 'silent' }), migrationsFolder);
  try {
    const { prisma } = gateway.database;
    expect(await prisma.apiKey.findMany()).toMatchObject([{ unrestricted: true, fromConfiguration: false }]);
    const headers = { 'X-API-Key': stdout.trim() };
    expect((await gateway.app.request('/api/companies', { headers })).status).toBe(200);
    expect(await prisma.auditRecord.findMany()).toMatchObject([{ requestId: 'keys:bootstrap' }]);
  } finally {
    await gateway.close();
  }
});
