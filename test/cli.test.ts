import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../cli/program.ts';
import { entryColumns } from '../cli/whitelist-csv.ts';
import { listen } from '../src/listener.ts';
import { newEntry, openTestGateway } from './harness.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({
  OPERATOR_API_KEY: operator,
  RATE_LIMIT_BURST_WINDOW_SECONDS: '2',
});
const { prisma } = gateway.database;
const listener = await listen(gateway.app, { host: '127.0.0.1', port: 0 });
const folder = mkdtempSync(join(tmpdir(), 'parking-cli-'));
afterAll(async () => {
  await listener.close();
  rmSync(folder, { recursive: true });
});

/** A stream that keeps what is written. */
function memory() {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

/** Runs a command as a person does, with a key in the environment. */
async function pms(key: string | undefined, ...args: string[]) {
  const [out, err] = [memory(), memory()];
  const code = await runProgram(
    args,
    { out: out.stream, err: err.stream },
    { PMS_URL: listener.url, PMS_API_KEY: key },
  );
  return { code, out: out.text(), err: err.text() };
}

/** The same with `--json`. */
async function json(key: string, ...args: string[]) {
  const { code, out, err } = await pms(key, '--json', ...args);
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

let files = 0;
function fileOf(text: string | Buffer): string {
  const path = join(folder, `${files++}.csv`);
  writeFileSync(path, text);
  return path;
}

const header = entryColumns.join(',');
const line = (entry = newEntry(), note = '') =>
  `${entry.referenceId},${entry.plateType},${entry.plateCode},${entry.plateNumber},sedan,${note},,`;
const plateNumbersOf = async (locationId: string) =>
  (await prisma.whitelistEntry.findMany({ where: { locationId }, orderBy: { id: 'asc' } })).map(
    ({ plateNumber }) => plateNumber,
  );

describe('pms whoami and keys', () => {
  test('show the key that is used, as a table and as JSON', async () => {
    const { key, companyId } = await gateway.newTenant();
    expect(await json(key, 'whoami')).toMatchObject({ name: 'Test', companyIds: [companyId] });
    const { out, code } = await pms(key, 'whoami');
    expect(code).toBe(0);
    expect(out).toMatch(/│ companies\s+│ [0-9a-f-]{36}/);
  });

  test('issue, list, rotate and revoke a key', async () => {
    const { companyId } = await gateway.newTenant();
    const admin = await gateway.newKey({ companyIds: [companyId] });
    const created = await json(
      admin,
      ...['keys', 'create', '--name', 'gate 1', '--permission', 'READ_WHITELIST', 'WRITE_ACTIVITY'],
      ...['--company', companyId, '--hourly-limit', '50', '--expires-at', '2099-01-01T00:00:00Z'],
    );
    expect(created).toMatchObject({
      name: 'gate 1',
      permissions: ['READ_WHITELIST', 'WRITE_ACTIVITY'],
      companyIds: [companyId],
      hourlyLimit: 50,
      expiresAt: '2099-01-01T00:00:00.000Z',
    });
    expect((await gateway.rest('GET', '/health', { key: created.secret })).status).toBe(200);
    expect((await json(admin, 'keys', 'list')).map(({ id }: { id: string }) => id)).toContain(created.id);
    expect((await pms(admin, 'keys', 'list')).out).toContain('gate 1');

    const rotated = await json(admin, 'keys', 'rotate', created.id, '--grace-seconds', '0');
    expect(rotated).toMatchObject({ id: created.id });
    expect((await gateway.rest('GET', '/health', { key: created.secret })).status).toBe(401);
    expect((await gateway.rest('GET', '/health', { key: rotated.secret })).status).toBe(200);

    expect(await json(admin, 'keys', 'revoke', created.id)).toMatchObject({ revokedAt: expect.any(String) });
    expect((await gateway.rest('GET', '/health', { key: rotated.secret })).status).toBe(401);
  });

  test('say that a secret is shown only now, beside the results', async () => {
    const { companyId } = await gateway.newTenant();
    const admin = await gateway.newKey({ companyIds: [companyId] });
    const command = ['keys', 'create', '--name', 'x', '--permission', 'READ_STATUS', '--company', companyId];
    for (const { out, err } of [await pms(admin, ...command), await pms(admin, '--json', ...command)]) {
      expect(out).toMatch(/pms_test_\w{49}/);
      expect(out).not.toContain('only now');
      expect(err).toContain('only now');
    }
  });

  test('take the key from a file', async () => {
    const { key } = await gateway.newTenant();
    const file = fileOf(`${key}\n`);
    expect((await pms(undefined, '--key-file', file, 'whoami')).code).toBe(0);
  });
});

describe('pms usage', () => {
  test('shows what a key did by hour and operation', async () => {
    const { companyId } = await gateway.newTenant();
    const admin = await gateway.newKey({ companyIds: [companyId] });
    await gateway.rest('GET', '/health', { key: admin });
    const { id } = await json(admin, 'whoami');
    const health = expect.objectContaining({
      operation: 'GET /health',
      surface: 'rest',
      requests: 1,
      refused: 0,
    });
    await expect.poll(() => json(admin, 'usage'), { timeout: 5000 }).toContainEqual(health);
    expect(await json(admin, 'usage', id)).toContainEqual(health);
    expect((await pms(admin, 'usage')).out).toMatch(/│ GET \/health\s+│ rest\s+│ 1 /);
    expect(await json(admin, 'usage', '--to', '2026-01-01T00:00:00Z')).toEqual([]);
  });
});

describe('pms import', () => {
  test('takes a byte order mark, either line ending, quotes and lines in quotes', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = fileOf(
      '\ufeffplateType,plateCode,plateNumber,referenceId,note\r\n' +
        'DXB,A,1,"unit, 1","say ""hello""\n to all"\r\n' +
        'DXB,White,2, unit 2 ,\r\n' +
        'DXB,A,3,unit 3,""\r\n\r\n',
    );
    expect(await json(key, 'import', file, '--location', locationId)).toEqual({
      created: 3,
      updated: 0,
      unchanged: 0,
      deleted: 0,
      rejected: 0,
    });
    const entries = await prisma.whitelistEntry.findMany({ where: { locationId }, orderBy: { id: 'asc' } });
    expect(entries.map(({ referenceId, note }) => [referenceId, note])).toEqual([
      ['unit, 1', 'say "hello"\n to all'],
      [' unit 2 ', null],
      ['unit 3', ''],
    ]);
  });

  test('upserts and replaces, and changes nothing when it is a dry run', async () => {
    const { key, locationId } = await gateway.newTenant();
    const [kept, gone] = [newEntry(), newEntry()];
    const first = fileOf([header, line(kept), line(gone)].join('\n'));
    await json(key, 'import', first, '--location', locationId);
    const next = fileOf([header, line(kept, 'changed'), line()].join('\n'));
    const location = ['--location', locationId];
    expect(await json(key, 'import', next, ...location, '--mode', 'upsert', '--dry-run')).toMatchObject({
      created: 1,
      updated: 1,
    });
    expect(await plateNumbersOf(locationId)).toEqual([kept.plateNumber, gone.plateNumber]);
    expect(await json(key, 'import', next, ...location, '--mode', 'replace')).toMatchObject({
      created: 1,
      updated: 1,
      deleted: 1,
    });
    expect(await json(key, 'import', next, ...location, '--mode', 'upsert')).toMatchObject({ unchanged: 2 });
  });

  test('writes the rejected rows with their lines, which can be mended and imported', async () => {
    const { key, locationId } = await gateway.newTenant();
    const [good, twice] = [newEntry(), newEntry()];
    const file = fileOf(
      [
        header,
        line(good),
        line(newEntry({ plateCode: 'ABCD' })),
        line(twice),
        line(newEntry(), '"two\nlines"'),
        line(twice),
        line(newEntry({ referenceId: '' })),
        line().replace(/,,$/, ',,tomorrow'),
      ].join('\n'),
    );
    const { code, out, err } = await pms(key, 'import', file, '--location', locationId, '--batch-size', '2');
    expect(code).toBe(3);
    expect(out).toMatch(/created\s+│ 3/);
    expect(out).toMatch(/rejected\s+│ 4/);
    expect(err).toContain(`${file}.rejected.csv`);
    const rejected = readFileSync(`${file}.rejected.csv`, 'utf8').trim().split('\n');
    expect(rejected[0]).toBe(`${header},line,field,code,message,value`);
    expect(rejected.slice(1).map((row) => row.split(',').slice(8))).toEqual([
      ['3', 'plateCode', 'VALIDATION_ERROR', 'Invalid plate code format', 'ABCD'],
      ['7', '', 'DUPLICATE_VEHICLE', 'Line 4 has the same plate', ''],
      [
        '9',
        'validUntil',
        'VALIDATION_ERROR',
        expect.stringContaining('"Must be an ISO 8601'),
        ' such as 2026-01-31T08:00:00Z"',
        'tomorrow',
      ],
      ['8', 'referenceId', 'VALIDATION_ERROR', 'Reference id must not be blank', '""'],
    ]);
    const mended = fileOf(rejected.slice(0, 2).join('\n').replace('ABCD', 'ABC'));
    expect(await json(key, 'import', mended, '--location', locationId)).toMatchObject({ created: 1 });
  });

  test('waits when the rate limit is reached, and goes on', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId], burstLimit: 3 });
    const file = fileOf([header, ...Array.from({ length: 8 }, () => line())].join('\n'));
    const { code, err } = await pms(key, 'import', file, '--location', locationId, '--batch-size', '1');
    expect(code).toBe(0);
    expect(err).toMatch(/rate limit of the key is reached; going on in [12] second/);
    expect(await plateNumbersOf(locationId)).toHaveLength(8);
  });

  test('replaces nothing by a file that one call cannot take, or that has a plate twice', async () => {
    const { key, locationId } = await gateway.newTenant();
    const rows = Array.from({ length: 10_001 }, (_, index) => `unit,DXB,A,${index},,,,`);
    const replace = (file: string) => pms(key, 'import', file, '--location', locationId, '--mode', 'replace');
    const tooLong = await replace(fileOf([header, ...rows].join('\n')));
    expect(tooLong).toMatchObject({ code: 2, err: expect.stringContaining('at most 10000 rows') });
    const twice = newEntry();
    expect(await replace(fileOf([header, line(twice), line(twice)].join('\n')))).toMatchObject({ code: 3 });
    expect(await plateNumbersOf(locationId)).toEqual([]);
  });

  test.each([
    ['a missing column', 'referenceId,plateType,plateCode\n', 'Line 1: the column plateNumber is missing'],
    ['an unknown column', `${header},colour\n`, 'Line 1: unknown column colour'],
    ['a row with a field too few', `${header}\n${line()}\na,b\n`, 'Line 3: '],
    ['a quote that does not end', `${header}\n"a,b\n`, 'Line '],
  ])('refuses a file with %s and says where', async (_, text, message) => {
    const { key, locationId } = await gateway.newTenant();
    const { code, err } = await pms(key, 'import', fileOf(text), '--location', locationId);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
    expect(await plateNumbersOf(locationId)).toEqual([]);
  });
});

describe('pms export', () => {
  const text = (max: number) =>
    fc
      .string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'ü', 'م', '=', ';', '\t'), maxLength: max })
      .filter((value) => value.length <= max);
  const entry = fc.record({
    referenceId: text(20).filter((value) => value.trim() !== ''),
    vehicleType: fc.option(text(20)),
    note: fc.option(text(30)),
    validFrom: fc.option(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })),
  });

  test('writes what import takes back unchanged', async () => {
    const { key, companyId } = await gateway.newTenant();
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 12 }), async (entries) => {
        const [from, to] = [await gateway.newLocation(companyId), await gateway.newLocation(companyId)];
        for (const [index, values] of entries.entries()) {
          const body = newEntry({ ...values, plateNumber: String(index) });
          const created = await gateway.rest('POST', `/locations/${from}/whitelist`, { key, body });
          expect(created.status).toBe(201);
        }
        const { out } = await pms(key, 'export', '--location', from);
        await json(key, 'import', fileOf(out), '--location', to, '--mode', 'replace');
        expect((await pms(key, 'export', '--location', to)).out).toBe(out);
        const rows = (locationId: string) =>
          prisma.whitelistEntry.findMany({
            where: { locationId },
            orderBy: { id: 'asc' },
            omit: { id: true, locationId: true, createdAt: true, updatedAt: true },
          });
        expect(await rows(to)).toEqual(await rows(from));
      }),
      { numRuns: 15 },
    );
  });

  test('writes all pages to a file', async () => {
    const { key, locationId } = await gateway.newTenant();
    const rows = Array.from({ length: 250 }, (_, index) => `unit,DXB,A,${index},,,,`);
    await json(key, 'import', fileOf([header, ...rows].join('\n')), '--location', locationId);
    const file = join(folder, 'export.csv');
    expect(await pms(key, 'export', '--location', locationId, '--output', file)).toEqual({
      code: 0,
      out: '',
      err: '',
    });
    expect(readFileSync(file, 'utf8')).toBe([header, ...rows, ''].join('\n'));
  });
});

describe('pms says what is wrong', () => {
  test('with a key that opens nothing', async () => {
    const { code, err } = await pms('pms_test_x', 'whoami');
    expect(code).toBe(1);
    expect(err).toMatch(/^UNAUTHORIZED: Invalid or missing API key\n {2}request: [0-9a-f-]{36}\n$/);
  });

  test('with the field and the value that the gateway names', async () => {
    const { key } = await gateway.newTenant();
    const { code, err } = await pms(key, 'export', '--location', 'nowhere');
    expect(code).toBe(1);
    expect(err).toContain(
      'NOT_FOUND: Location not found or not accessible\n  field: locationId\n  value: "nowhere"',
    );
  });

  test.each([
    ['no key', undefined, ['whoami'], 'set PMS_API_KEY'],
    [
      'a key file that is not there',
      undefined,
      ['--key-file', '/nowhere', 'whoami'],
      'Cannot read the key file',
    ],
    ['a URL that is none', 'key', ['--url', 'gateway', 'whoami'], 'Not the URL of a gateway: gateway'],
    ['an unknown command', 'key', ['park'], "unknown command 'park'"],
    [
      'an unknown mode',
      'key',
      ['import', 'x', '--location', 'x', '--mode', 'merge'],
      'Allowed choices are create',
    ],
    ['a missing option', 'key', ['import', 'x'], "'--location <id>' not specified"],
    ['a number that is none', 'key', ['keys', 'rotate', 'x', '--grace-seconds', 'day'], 'Not a whole number'],
  ])('with %s', async (_, key, args, message) => {
    const { code, out, err } = await pms(key, ...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });

  test('with a file that is not there', async () => {
    const { code, err } = await pms('key', 'import', join(folder, 'none.csv'), '--location', 'x');
    expect(code).toBeGreaterThan(0);
    expect(err).toContain('no such file');
    expect(err).not.toContain('    at ');
  });

  test('when the gateway cannot be reached', async () => {
    const { code, err } = await pms(
      'key',
      ...['--url', 'http://127.0.0.1:1', 'keys', 'create', '--name', 'x', '--permission', 'ADMIN'],
    );
    expect(code).toBe(1);
    expect(err).toContain('No answer from http://127.0.0.1:1 (');
    expect(err).not.toContain('    at ');
  });
});

test('npm run pms works as a process of its own', async () => {
  const { key } = await gateway.newTenant();
  const run = promisify(execFile)('npm', ['run', '--silent', 'pms', '--', '--json', 'whoami'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, PMS_URL: listener.url, PMS_API_KEY: key },
  });
  expect(JSON.parse((await run).stdout)).toMatchObject({ name: 'Test' });
});
