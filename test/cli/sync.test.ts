import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { fencedBlocks, projectFolder, readPages } from '../support/documentation.ts';
import { databaseVariables, startGatewayProcess } from '../support/gateway-process.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';
import { forwardGraph, startHttpServer } from '../support/http-server.ts';
import { createEmbeddedDatabase } from '../support/scratch-database.ts';
import { freePort } from '../support/system-servers.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);
const { pms, json, fileOf, folder } = openCommandLine(url);

const copyIn = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const numbersIn = (file: string) =>
  copyIn(file).entries.map(({ plateNumber }: { plateNumber: string }) => plateNumber);

/**
 * Creates a location with two vehicles on its whitelist, and returns the arguments with which pms sync copies the
 * whitelist.
 */
async function newWhitelist(name: string) {
  const tenant = await gateway.newTenant();
  const at = ['--location', tenant.locationId];
  const file = join(folder, `${name}.json`);
  for (const number of ['1', '2']) {
    await json(tenant.key, 'whitelist', 'add', `DXB/A/${number}`, ...at, '--reference', 'unit');
  }
  return { ...tenant, at, file, sync: ['sync', ...at, '--output', file] };
}

describe('the command pms sync', () => {
  test('pms sync writes the whole whitelist in its first run, and only the changes in later runs', async () => {
    const { key, locationId, at, file, sync } = await newWhitelist('changes');
    expect(await json(key, ...sync)).toEqual({ entries: 2, upserts: 2, removals: 0, reset: true });
    expect(copyIn(file)).toMatchObject({
      locationId,
      entries: [
        { plateNumber: '1', referenceId: 'unit', validFrom: null },
        { plateNumber: '2', referenceId: 'unit', validFrom: null },
      ],
    });
    // The test removes a whitelist entry, and adds another entry with the same plate. In the whitelist copy, the new
    // entry must replace the removed entry.
    await json(key, 'whitelist', 'remove', 'DXB/A/1', ...at);
    await json(key, 'whitelist', 'add', 'DXB/A/1', ...at, '--reference', 'other');
    expect(await json(key, ...sync)).toEqual({ entries: 2, upserts: 1, removals: 1, reset: false });
    expect(numbersIn(file)).toEqual(['2', '1']);
    expect(await json(key, ...sync)).toEqual({ entries: 2, upserts: 0, removals: 0, reset: false });
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('pms sync downloads the whole whitelist again when the gateway refuses the stored cursor', async () => {
    const { key, file, sync } = await newWhitelist('cursor');
    await json(key, ...sync);
    const copy = copyIn(file);
    const gone = { ...copy.entries[0], id: 'gone', plateNumber: '3' };
    writeFileSync(file, JSON.stringify({ ...copy, cursor: 'x', entries: [...copy.entries, gone] }));
    expect(await json(key, ...sync)).toMatchObject({ entries: 2, reset: true });
    expect(numbersIn(file)).toEqual(['1', '2']);
  });

  test('the command `pms sync` refuses to overwrite a file that is not a copy of the whitelist of the given location', async () => {
    const { key, at } = await newWhitelist('else');
    const { sync: other, key: otherKey, file: otherFile } = await newWhitelist('other');
    await json(otherKey, ...other);
    for (const [file, message] of [
      [fileOf('{"entries": 7}'), 'is not a copy of a whitelist'],
      [fileOf('residents'), 'is not a copy of a whitelist'],
      [fileOf('{"locationId": "1", "cursor": "1", "entries": [null]}'), 'is not a copy of a whitelist'],
      [fileOf('{"locationId": "1", "cursor": "1", "entries": [{}]}'), 'is not a copy of a whitelist'],
      [otherFile, 'is a copy of location'],
    ] as const) {
      const before = readFileSync(file, 'utf8');
      const { code, err } = await pms(key, 'sync', ...at, '--output', file);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
      expect(readFileSync(file, 'utf8')).toBe(before);
    }
  });
});

/**
 * Starts a process, and collects the text that the process writes to its standard output and standard error. The
 * function makes sure that this process is killed when the test ends.
 */
function start(args: string[], env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: projectFolder,
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const started = { child, out: '', err: '' };
  child.stdout!.on('data', (chunk) => (started.out += chunk));
  child.stderr!.on('data', (chunk) => (started.err += chunk));
  return started;
}

test('pms sync --watch exits with code 1 when its API key is revoked', async () => {
  const { key, companyId, file, sync } = await newWhitelist('revoked');
  const create = [
    'keys',
    'create',
    '--name',
    'gate',
    '--permission',
    'READ_WHITELIST',
    '--company',
    companyId,
  ];
  const gate = await json(key, ...create);
  const watching = start(['dist/pms.js', ...sync, '--watch'], { PMS_URL: url, PMS_API_KEY: gate.secret });
  await expect.poll(() => watching.out).toContain('2 entries');
  await json(key, 'keys', 'revoke', gate.id);
  await expect.poll(() => watching.child.exitCode).toBe(1);
  expect(watching.err).toMatch(/UNAUTHORIZED: .+\n {2}request: \S+\n$/);
  expect(numbersIn(file)).toEqual(['1', '2']);
});

test('pms sync --watch polls for whitelist changes when the gateway refuses an event stream', async () => {
  const { key, at, file, sync } = await newWhitelist('polling');
  const address = await startHttpServer(async (request, response) => {
    if (request.headers.accept?.includes('text/event-stream')) return void response.writeHead(404).end();
    await forwardGraph({ url, key, body: Buffer.concat(await request.toArray()) }, response);
  });
  const watching = start(['dist/pms.js', ...sync, '--watch'], { PMS_URL: address, PMS_API_KEY: key });
  await expect
    .poll(() => watching.err)
    .toContain(
      'rejected the stream with status 404; polling every 15 seconds until the stream is open again',
    );
  await json(key, 'whitelist', 'add', 'DXB/A/3', ...at, '--reference', 'unit');
  await expect.poll(() => numbersIn(file)).toEqual(['1', '2', '3']);
});

test('pms sync continues to update its copy of a whitelist after the gateway or pms sync was killed and restarted', async () => {
  const scratch = await createEmbeddedDatabase();
  onTestFinished(() => scratch.drop());
  const operator = 'operator-key-of-the-tests-0123456789';
  const environment = {
    PORT: String(await freePort()),
    ...databaseVariables(scratch),
    OPERATOR_API_KEY: operator,
  };
  let server = startGatewayProcess(environment);
  onTestFinished(() => void server.end('SIGKILL'));
  const address = await server.listening();
  const command = (...args: string[]) => json(operator, '--url', address, ...args);
  const at = ['--location', 'marina-gate'];
  const file = join(folder, 'plates.json');
  const env = { PMS_URL: address, PMS_API_KEY: operator };
  const startSync = () => start(['dist/pms.js', '--json', 'sync', ...at, '--output', file, '--watch'], env);

  let sync = startSync();
  await expect.poll(() => sync.out).toContain('"reset":true');
  await command('whitelist', 'add', 'DXB/A/9001', ...at, '--reference', 'unit');
  await expect.poll(() => numbersIn(file)).toContain('9001');

  const gateFile = join(folder, 'gate.mts');
  const page = readPages().find(({ path }) => path === 'docs/gates.md')!;
  writeFileSync(gateFile, fencedBlocks(page).find(({ words }) => words.includes('gate.mts'))!.text);
  const { locationId } = copyIn(file);
  const gate = start(['--import', 'tsx', gateFile], { ...env, LOCATION_ID: locationId, COPY: file });
  const answers: string[] = [];
  createInterface(gate.child.stdout!).on('line', (line) => answers.push(line));
  /**
   * Asks the example gate program of docs/gates.md for a decision about a plate. Returns the gate decision, and whether
   * it comes from the gateway or from the local copy of the whitelist.
   */
  async function ask(plate: string): Promise<string> {
    const { length } = answers;
    gate.child.stdin!.write(`${plate}\n`);
    await expect.poll(() => answers.length).toBe(length + 1);
    return answers[length]!;
  }
  await expect.poll(() => ask('DXB A 9001')).toBe('DXB A 9001 LISTED by the gateway');

  await server.end('SIGKILL');
  await expect.poll(() => sync.err).toContain('was interrupted');
  expect(await ask('DXB A 9001')).toBe('DXB A 9001 LISTED by the copy');
  expect(await ask('DXB A 9002')).toBe('DXB A 9002 NOT_LISTED by the copy');

  server = startGatewayProcess(environment);
  await server.listening();
  await command('whitelist', 'remove', 'DXB/A/9001', ...at);
  await expect.poll(() => numbersIn(file)).not.toContain('9001');

  sync.child.kill('SIGKILL');
  await once(sync.child, 'exit');
  await command(
    'whitelist',
    'add',
    'DXB/A/9002',
    ...at,
    '--reference',
    'unit',
    '--until',
    '2020-01-01T00:00:00Z',
  );
  sync = startSync();
  await expect.poll(() => sync.out).toContain('"upserts":1,"removals":0,"reset":false');
  await server.end('SIGKILL');
  expect(await ask('DXB A 9002')).toBe('DXB A 9002 EXPIRED by the copy');
});
