import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/open.ts';
import { welcome } from '../../src/first-run.ts';
import { openGateway } from '../../src/gateway.ts';
import { projectFolder } from '../support/documentation.ts';
import { openScratchDatabase } from '../support/database.ts';
import { createScratchDatabase, testServerUrl } from '../support/scratch-database.ts';

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

  const gateway = await openGateway(loadConfig(env), pino({ level: 'silent' }));
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

test.runIf(testServerUrl)(
  "when several processes start for the first time at the same time, only one process creates an operator's API key",
  async () => {
    const log = pino({ level: 'silent' });
    const shared = await createScratchDatabase();
    const databases = await Promise.all([1, 2, 3].map(() => openDatabase({ ...shared, log })));
    onTestFinished(async () => {
      await Promise.all(databases.map((database) => database.close()));
      await shared.drop();
    });
    const folders = await Promise.all([1, 2, 3].map(() => mkdtemp(join(tmpdir(), 'first-start-'))));
    onTestFinished(async () => {
      for (const folder of folders) await rm(folder, { recursive: true });
    });

    await Promise.all(
      databases.map((database, index) =>
        welcome(database, loadConfig({ DATA_DIR: folders[index] }), { url: '', log, isTerminal: false }),
      ),
    );
    expect(await databases[0]!.prisma.apiKey.findMany()).toMatchObject([{ unrestricted: true }]);
    expect((await Promise.all(folders.map((folder) => readdir(folder)))).flat()).toEqual(['first-keys.txt']);
  },
);

test.runIf(!testServerUrl)(
  "when the first start of a gateway fails while it creates the demo data, first-keys.txt contains the operator's key, and the next start adds the demo key",
  async () => {
    const database = await openScratchDatabase();
    const { dataDir } = database.scratch;
    const log = pino({ level: 'silent' });
    const start = () =>
      welcome(database, loadConfig({ DATA_DIR: dataDir }), { url: '', log, isTerminal: false });
    const { prisma } = database;
    await prisma.$executeRaw`ALTER TABLE "Company" ADD CONSTRAINT "noCompany" CHECK (false)`;
    await expect(start()).rejects.toThrow('noCompany');
    const file = join(dataDir, 'first-keys.txt');
    const operatorLines = await readFile(file, 'utf8');
    expect(operatorLines).toMatch(/^Keys, shown only now:\n {2}operator {2}pms_test_\w{49} .*\n$/);

    await prisma.$executeRaw`ALTER TABLE "Company" DROP CONSTRAINT "noCompany"`;
    await chmod(file, 0o644);
    await start();
    const lines = await readFile(file, 'utf8');
    expect(lines.startsWith(operatorLines)).toBe(true);
    expect(lines).toMatch(/^ {2}demo {6}pms_test_\w{49} /m);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  },
);
