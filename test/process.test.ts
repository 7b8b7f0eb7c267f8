import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSlug } from './harness.ts';
import { startProxy } from './proxy.ts';
import { startReceiver } from './receiver.ts';
import { createScratchDatabase, testServerUrl } from './scratch-database.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const operatorKey = 'operator-key-of-the-tests-0123456789';
const cleanUps: (() => unknown)[] = [];

beforeAll(() => execFileSync('npm', ['run', '--silent', 'build'], { cwd: root }));
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

interface RunningGateway {
  process: ChildProcess;
  url: string;
  /** What it printed so far. */
  output(): string;
  call(path: string, init?: RequestInit & { key?: string }): Promise<Response>;
  /** Ends it and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

function run(env: Record<string, string>): { process: ChildProcess; output: () => string } {
  const { DATABASE_URL: _, REDIS_URL: __, ...inherited } = process.env;
  const child = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    env: { ...inherited, PORT: '0', ...env },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  cleanUps.push(() => child.kill('SIGKILL'));
  return { process: child, output: () => output };
}

async function start(env: Record<string, string>): Promise<RunningGateway> {
  const { process: child, output } = run(env);
  await expect.poll(output, { timeout: 30_000, interval: 50 }).toContain(`"msg":"listening"`);
  const [, url = ''] = /"url":"([^"]+)"/.exec(output()) ?? [];
  return {
    process: child,
    url,
    output,
    call: (path, { key, ...init } = {}) =>
      fetch(url + path, {
        ...init,
        headers: { ...(key && { 'X-API-Key': key }), 'Content-Type': 'application/json', ...init.headers },
      }),
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a gateway on its embedded default', () => {
  test('prints keys and lines that work on its first start, and keeps the data for the next', async () => {
    const dataDir = newFolder();
    const first = await start({ DATA_DIR: dataDir });
    await expect.poll(first.output).toContain('In GraphiQL');
    const printed = first.output();
    const curls = printed.split('\n').filter((line) => line.trim().startsWith('curl'));
    expect(curls).toHaveLength(2);
    const [list, decision] = curls.map((line) => JSON.parse(execFileSync('bash', ['-c', line]).toString()));
    expect(list.data.map((entry: { plateNumber: string }) => entry.plateNumber)).toEqual(['7', '4521']);
    expect(decision.data.plateAccess).toMatchObject({ allowed: true, reason: 'LISTED' });
    expect(await first.stop()).toBe(0);

    const second = await start({ DATA_DIR: dataDir });
    expect(second.output()).not.toMatch(/pms_(live|test)_/);
    const [, key] = /demo {6}(\S+)/.exec(printed) ?? [];
    const locations = await second.call('/api/locations', { key: key! }).then((response) => response.json());
    expect(locations.data).toHaveLength(3);
    expect(await second.stop()).toBe(0);
  });

  test('serves its metrics on a port of their own', async () => {
    const gateway = await start({ DATA_DIR: newFolder(), METRICS_PORT: '0' });
    const served = /"url":"([^"]+\/metrics)"/;
    await expect.poll(gateway.output).toMatch(served);
    const metrics = await fetch(served.exec(gateway.output())![1]!);
    expect(await metrics.text()).toContain('process_resident_memory_bytes');
    expect((await gateway.call('/metrics')).status).toBe(404);
    expect(await gateway.stop()).toBe(0);
  });

  test('shows its keys and stops in order when it is told to while it makes its demo data', async () => {
    const gateway = await start({ DATA_DIR: newFolder() });
    expect(await gateway.stop()).toBe(0);
    expect(gateway.output()).toContain('In GraphiQL');
  });

  test('leaves the folder to one process at a time', async () => {
    const dataDir = newFolder();
    const first = await start({ DATA_DIR: dataDir });
    const second = run({ DATA_DIR: dataDir });
    const [code] = await once(second.process, 'exit');
    expect(code).toBe(1);
    expect(second.output()).toContain('DATA_DIR');
    await first.stop();
  });
});

describe('a wrong configuration', () => {
  test.each([
    [{ PORT: 'http' }, 'PORT'],
    [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL'],
    [{ OPERATOR_API_KEY: 'short' }, 'OPERATOR_API_KEY'],
    [{ APP_ENV: 'production' }, 'DATABASE_URL'],
    [{ APP_ENV: 'staging' }, 'REDIS_URL'],
    [{ RATE_LIMIT_WINDOW_SECONDS: '-1' }, 'RATE_LIMIT_WINDOW_SECONDS'],
  ])('%j stops the start and names the variable', async (env, variable) => {
    const { process: child, output } = run(env);
    const [code] = await once(child, 'exit');
    expect(code).toBe(1);
    expect(output()).toContain(variable);
    expect(output()).not.toContain('    at ');
  });
});

test.each(['PORT', 'METRICS_PORT'])(
  'a %s that another process has stops the start and is named',
  async (variable) => {
    const taken = createServer().listen(0, '127.0.0.1');
    cleanUps.push(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const { process: child, output } = run({ DATA_DIR: 'memory://', [variable]: String(port) });
    const [code] = await once(child, 'exit');
    expect(code).toBe(1);
    expect(output()).toContain(` ${variable} ${port}`);
  },
);

/** Runs an operation as the operator. */
const graph = async (gateway: RunningGateway, query: string) =>
  (
    await gateway.call('/graphql', { method: 'POST', key: operatorKey, body: JSON.stringify({ query }) })
  ).json();

describe.runIf(testServerUrl && process.env.REDIS_URL)('two gateways on one PostgreSQL and one Redis', () => {
  test('start at once on an empty database, share limits, and see a revocation at once', async () => {
    const scratch = await createScratchDatabase({ migrated: false });
    cleanUps.push(() => scratch.drop());
    const env = {
      DATABASE_URL: scratch.databaseUrl!,
      REDIS_URL: process.env.REDIS_URL!,
      OPERATOR_API_KEY: operatorKey,
    };
    const [first, second] = await Promise.all([start(env), start(env)]);

    const created = await graph(
      first,
      'mutation { createApiKey(input: { name: "shared", permissions: [READ_LOCATIONS], hourlyLimit: 50 }) { secret apiKey { id } } }',
    );
    const { secret: key, apiKey } = created.data.createApiKey;
    const statuses = await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        (index % 2 ? first : second).call('/api/health', { key }).then((response) => response.status),
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);

    const other = await graph(
      first,
      'mutation { createApiKey(input: { name: "other", permissions: [READ_LOCATIONS] }) { secret apiKey { id } } }',
    );
    const { secret } = other.data.createApiKey;
    expect((await second.call('/api/locations', { key: secret })).status).toBe(200);
    await graph(first, `mutation { revokeApiKey(id: "${other.data.createApiKey.apiKey.id}") { id } }`);
    await expect
      .poll(async () => (await second.call('/api/locations', { key: secret })).status, {
        timeout: 1000,
        interval: 20,
      })
      .toBe(401);
    expect(apiKey.id).toBeTruthy();
    expect(await Promise.all([first.stop(), second.stop()])).toEqual([0, 0]);
  });

  test('answer INTERNAL_ERROR while PostgreSQL is lost, and recover by themselves', async () => {
    const scratch = await createScratchDatabase();
    cleanUps.push(() => scratch.drop());
    const proxy = await startProxy(scratch.databaseUrl!);
    cleanUps.push(() => proxy.close());
    const gateway = await start({
      DATABASE_URL: proxy.url,
      REDIS_URL: process.env.REDIS_URL!,
      OPERATOR_API_KEY: operatorKey,
    });
    const list = () => gateway.call('/api/companies', { key: operatorKey });
    expect((await list()).status).toBe(200);

    proxy.cut();
    const lost = await list();
    const requestId = lost.headers.get('X-Request-Id');
    expect(lost.status).toBe(500);
    expect(await lost.json()).toEqual({
      success: false,
      error: { code: 'INTERNAL_ERROR', message: 'Internal server error', requestId },
    });
    expect(lost.headers.get('X-RateLimit-Remaining')).toMatch(/^\d+$/);
    expect((await gateway.call('/readyz')).status).toBe(503);
    expect((await gateway.call('/livez')).status).toBe(200);
    expect(gateway.output()).toContain(requestId);

    proxy.mend();
    await expect.poll(async () => (await list()).status, { timeout: 10_000, interval: 200 }).toBe(200);
    expect(gateway.output()).not.toContain(operatorKey);
    expect(await gateway.stop()).toBe(0);
  });

  test('resend the message of a killed one, under the same identifier', async () => {
    const scratch = await createScratchDatabase();
    cleanUps.push(() => scratch.drop());
    const env = {
      DATABASE_URL: scratch.databaseUrl!,
      REDIS_URL: process.env.REDIS_URL!,
      OPERATOR_API_KEY: operatorKey,
      WEBHOOK_ALLOW_PRIVATE: 'true',
    };
    const receiver = await startReceiver();
    receiver.answer = 'nothing';
    const first = await start(env);
    const created = await graph(
      first,
      `mutation { createWebhook(input: { url: "${receiver.url}", events: [COMPANY_REGISTERED] }) { webhook { id } } }`,
    );
    expect(created.errors).toBeUndefined();
    await first.call('/api/register/company', {
      method: 'POST',
      key: operatorKey,
      body: JSON.stringify({ name: 'Killed', slug: newSlug(), address: 'Dubai' }),
    });
    await expect.poll(() => receiver.messages.length, { timeout: 10_000 }).toBe(1);
    expect(await first.stop('SIGKILL')).toBeNull();

    receiver.answer = 200;
    const client = new pg.Client(scratch.databaseUrl!);
    await client.connect();
    cleanUps.push(() => client.end());
    const second = await start(env);
    await client.query(`UPDATE "WebhookDelivery" SET "nextAttemptAt" = now()`); // its lease is over
    await expect.poll(() => receiver.messages.length, { timeout: 10_000 }).toBe(2);
    expect(receiver.messages[1]!.id).toBe(receiver.messages[0]!.id);
    expect(receiver.messages[1]!.body).toBe(receiver.messages[0]!.body);
    expect(await second.stop()).toBe(0);
  });

  test('finish what is in flight when they are told to stop', async () => {
    const scratch = await createScratchDatabase();
    cleanUps.push(() => scratch.drop());
    const gateway = await start({
      DATABASE_URL: scratch.databaseUrl!,
      REDIS_URL: process.env.REDIS_URL!,
      OPERATOR_API_KEY: operatorKey,
    });
    const companies = Array.from({ length: 30 }, () => ({
      name: 'In flight',
      slug: newSlug(),
      address: 'Dubai',
    }));
    const answers = companies.map((body) =>
      gateway
        .call('/api/register/company', { method: 'POST', key: operatorKey, body: JSON.stringify(body) })
        .then(
          (response) => response.status,
          () => 'refused',
        ),
    );
    await Promise.race(answers);
    const code = await gateway.stop();
    const statuses = await Promise.all(answers);
    expect(code).toBe(0);
    expect(statuses.every((status) => status === 201 || status === 'refused')).toBe(true);
    const acknowledged = statuses.filter((status) => status === 201).length;

    const next = await start({ DATABASE_URL: scratch.databaseUrl!, OPERATOR_API_KEY: operatorKey });
    const { data } = await (await next.call('/api/companies', { key: operatorKey })).json();
    expect(data.length).toBeGreaterThanOrEqual(acknowledged);
    await next.stop();
  });
});
