import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { projectFolder } from '../support/documentation.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';
import { startHttpServer } from '../support/http-server.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);
const { pms, folder, fileOf } = openCommandLine(url);

const formula = '=HYPERLINK("https://evil.example";"7")';

/**
 * Creates a location with a whitelist entry and a quota. The whitelist entry and the quota belong to the same
 * reference, and the id of this reference is a spreadsheet formula.
 */
async function newTenant() {
  const tenant = await gateway.newTenant();
  const { key, locationId } = tenant;
  const body = newEntry({ referenceId: formula, note: '-1+1' });
  const entry = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
  expect(entry.status).toBe(201);
  expect((await pms(key, 'quotas', 'set', formula, '--inside', '1', '--location', locationId)).code).toBe(0);
  return tenant;
}

describe('files with personal data that pms writes', () => {
  const rejectedCsv = () => fileOf('referenceId,plateType,plateCode,plateNumber\n=1+1,DXB,A,\n');
  const rejectedJson = () => fileOf('{"eventId":"1"}\n');

  // With the usual umask 022, every user of the machine can read a new file. For a new file with personal data, pms
  // must therefore set a file mode that lets only the owner read the file.
  let umask: number;
  beforeAll(() => {
    umask = process.umask(0o022);
  });
  afterAll(() => void process.umask(umask));

  test.each([
    ['an exported whitelist', () => ['export', '--output']],
    ['exported quotas', () => ['quotas', 'export', '--output']],
    ['a copy of a whitelist', () => ['sync', '--output']],
    ['rejected rows', () => ['import', rejectedCsv(), '--rejects']],
    ['rejected events', () => ['events', 'import', rejectedJson(), '--rejects']],
  ])('a file that pms writes is readable only by its owner: %s', async (name, command) => {
    const { key, locationId } = await newTenant();
    const path = join(folder, name.replaceAll(' ', '-'));
    for (const round of ['new', 'existing']) {
      const { err } = await pms(key, ...command(), path, '--location', locationId);
      expect(statSync(path).mode & 0o777, `${round} ${err}`).toBe(0o600);
      expect(readFileSync(path, 'utf8')).not.toBe('');
      if (name !== 'a copy of a whitelist') writeFileSync(path, '');
    }
  });

  test('when pms overwrites a file that other users can read, the file becomes readable only by its owner', async () => {
    const { key, locationId } = await newTenant();
    const path = fileOf('');
    chmodSync(path, 0o644);
    await pms(key, 'import', rejectedCsv(), '--rejects', path, '--location', locationId);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

test.each(['export', 'sync'])(
  'when the output of pms %s is a symbolic link, pms replaces the file to which the link leads',
  async (command) => {
    const { key, locationId } = await newTenant();
    const target = join(folder, `target-of-${command}`);
    const link = join(folder, `link-of-${command}`);
    const output = ['--location', locationId, '--output'];
    await pms(key, command, ...output, target);
    symlinkSync(target, link);
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry({ note: 'blue' }),
    });
    expect((await pms(key, command, ...output, link)).code).toBe(0);
    expect(readFileSync(target, 'utf8')).toContain('blue');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  },
);

describe.runIf(existsSync('/dev/full'))('a full disk', () => {
  /** Runs pms in a separate process whose standard output or standard error output is a file on a full disk. */
  function startOnFullDisk(stream: 'stdout' | 'stderr', key: string, ...args: string[]) {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const child = spawn(process.execPath, ['dist/pms.js', ...args], {
      cwd: projectFolder,
      env: { ...process.env, PMS_URL: url, PMS_API_KEY: key },
      stdio: ['ignore', stream === 'stdout' ? full : 'ignore', stream === 'stderr' ? full : 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const err = child.stderr ? text(child.stderr) : '';
    return {
      child,
      async end() {
        await expect.poll(() => child.exitCode).not.toBe(null);
        return { code: child.exitCode, err: await err };
      },
    };
  }
  const lost = 'Cannot write the output: ENOSPC: no space left on device, write\n';

  test.each([[['whoami']], [['--help']], [['export', '--location', 'LOCATION']]])(
    'when the disk is full, pms %j says that it cannot write its output, and exits with code 1',
    async (args) => {
      const { key, locationId } = await newTenant();
      const located = args.map((arg) => (arg === 'LOCATION' ? locationId : arg));
      expect(await startOnFullDisk('stdout', key, ...located).end()).toEqual({ code: 1, err: lost });
    },
  );

  test('when pms listen cannot write its output because the disk is full, it deletes its webhook', async () => {
    const { key, companyId, locationId } = await newTenant();
    const listening = startOnFullDisk('stdout', key, 'listen', '--forward-to', 'http://127.0.0.1:9/hook');
    const webhooks = () => gateway.database.prisma.webhook.count({ where: { companyId } });
    await expect.poll(webhooks).toBe(1);
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
    expect(await listening.end()).toEqual({ code: 1, err: expect.stringContaining(lost) });
    expect(await webhooks()).toBe(0);
  });

  test('pms completes an import even when it cannot write its messages to standard error', async () => {
    const { key, locationId } = await newTenant();
    const file = fileOf('referenceId,plateType,plateCode,plateNumber\n,DXB,A,1\nunit,DXB,A,2\n');
    const importing = startOnFullDisk('stderr', key, 'import', file, '--location', locationId);
    expect(await importing.end()).toEqual({ code: 3, err: '' });
    const where = { locationId, plateNumber: '2' };
    expect(await gateway.database.prisma.whitelistEntry.count({ where })).toBe(1);
  });
});

describe('the pms option --safe-csv', () => {
  test.each([
    ['a whitelist', ['export']],
    ['quotas', ['quotas', 'export']],
  ])(
    'with --safe-csv, pms writes an apostrophe before each spreadsheet formula in %s',
    async (_, command) => {
      const { key, locationId } = await newTenant();
      const plain = await pms(key, ...command, '--location', locationId);
      expect(plain.out).toContain('\n"=HYPERLINK');
      const safe = await pms(key, ...command, '--safe-csv', '--location', locationId);
      expect({ code: safe.code, err: safe.err }).toEqual({ code: 0, err: '' });
      expect(safe.out).toContain(`\n"'=HYPERLINK`);
      expect(safe.out).not.toMatch(/(^|,|\n)"?[=+@-]/);
    },
  );

  test('with --safe-csv, pms writes an apostrophe before each spreadsheet formula in the file of rejected rows', async () => {
    const { key, locationId } = await newTenant();
    const path = fileOf('');
    const file = fileOf('referenceId,plateType,plateCode,plateNumber\n=1+1,DXB,A,\n');
    const { code } = await pms(
      key,
      'import',
      file,
      '--rejects',
      path,
      '--safe-csv',
      '--location',
      locationId,
    );
    expect(code).toBe(3);
    expect(readFileSync(path, 'utf8')).toContain("\n'=1+1,");
  });
});

/** Creates a request listener of a Node HTTP server; the listener sends the same JSON response to every request. */
const answering =
  (status: number, body: unknown): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));

describe('control characters in the server responses that pms prints', () => {
  const hostile = 'a\u001b[31m\u009b2J\u202egate\nforged';
  const shown = String.raw`a\u001b[31m\u009b2J\u202egate\nforged`;
  const company = { id: '1', slug: 'a', name: hostile, address: 'x', createdAt: 'x', updatedAt: 'x' };
  const page = { nodes: [company], pageInfo: { hasNextPage: false, endCursor: null } };

  /**
   * Matches the characters that can change the output of a terminal, such as control characters and characters that
   * change the text direction.
   */
  const acting = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

  test('pms escapes control characters in tables', async () => {
    const url = await startHttpServer(answering(200, { data: { companies: page } }));
    const { out } = await pms('key', '--url', url, 'companies', 'list');
    expect(out.replaceAll(/\s/g, '')).toContain(shown);
    expect(out).not.toMatch(acting);
  });

  test('pms escapes control characters in JSON output, and a JSON parser still reads the original values', async () => {
    const url = await startHttpServer(answering(200, { data: { companies: page } }));
    const { out } = await pms('key', '--url', url, '--json', 'companies', 'list');
    expect(out).not.toMatch(acting);
    expect(JSON.parse(out)[0].name).toBe(hostile);
  });

  test('pms escapes control characters in error messages', async () => {
    const details = { field: hostile, value: hostile };
    const url = await startHttpServer(
      answering(200, { errors: [{ message: hostile, extensions: { code: hostile, details } }] }),
    );
    const { err } = await pms('key', '--url', url, 'companies', 'list');
    expect(err).toContain(`${shown}: ${shown}\n  field: ${shown}\n  value: "${shown}"\n`);
    expect(err).not.toMatch(acting);
  });
});

test('when the gateway refuses an event stream with status 429, pms status --watch waits as long as the Retry-After header says', async () => {
  const status = {
    locationId: '1',
    slug: 'a',
    state: 'AVAILABLE',
    occupied: 1,
    capacity: 2,
    updatedAt: '2026-01-31T08:00:00.000Z',
  };
  let streams = 0;
  const url = await startHttpServer((request, response) => {
    if (!request.headers.accept?.includes('text/event-stream'))
      return answering(200, { data: { locationStatuses: [status] } })(request, response);
    streams += 1;
    response.writeHead(streams === 1 ? 429 : 403, { 'Retry-After': '2' }).end();
  });
  const { code, err } = await pms('key', '--url', url, 'status', '--watch');
  expect(err).toContain('The rate limit of the key is reached; retrying in 2 seconds\n');
  expect({ code, streams }).toEqual({ code: 1, streams: 2 });
});

test('pms status --watch exits when the gateway refuses one of its event streams', async () => {
  const ids = Array.from({ length: 12 }, (_, index) => String(index));
  let streams = 0;
  const url = await startHttpServer(async (request, response) => {
    if (!request.headers.accept?.includes('text/event-stream')) {
      const locationStatuses = ids.map((locationId) => ({ locationId }));
      return answering(200, { data: { locationStatuses } })(request, response);
    }
    streams += 1;
    if (streams === ids.length) response.writeHead(403).end();
    else response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders();
  });
  const watching = spawn(process.execPath, ['dist/pms.js', 'status', '--watch'], {
    cwd: projectFolder,
    env: { ...process.env, PMS_URL: url, PMS_API_KEY: 'key' },
  });
  onTestFinished(() => void watching.kill('SIGKILL'));
  const err = text(watching.stderr);
  await expect.poll(() => watching.exitCode).toBe(1);
  expect(await err).toBe(`${url} rejected the stream with status 403\n`);
});
