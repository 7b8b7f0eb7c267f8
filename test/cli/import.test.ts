import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entryColumns } from '../../cli/whitelist-csv.ts';
import { openCommandLine } from '../support/command-line.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';
import { screenOf } from '../support/screen.ts';

const gateway = await openTestGateway({ RATE_LIMIT_BURST_WINDOW_SECONDS: '2' });
const { prisma } = gateway.database;
const { pms, pmsOnTerminal, pmsWithInput, json, fileOf, folder } = openCommandLine(await serve(gateway));

const header = entryColumns.join(',');
const line = (entry = newEntry(), note = '') =>
  `${entry.referenceId},${entry.plateType},${entry.plateCode},${entry.plateNumber},sedan,${note},,,,`;
const plateNumbersOf = async (locationId: string) =>
  (await prisma.whitelistEntry.findMany({ where: { locationId }, orderBy: { id: 'asc' } })).map(
    ({ plateNumber }) => plateNumber,
  );

describe('the command pms import', () => {
  test('pms import accepts a CSV file with a byte order mark, with LF and CRLF, and with line breaks in quoted fields', async () => {
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

  test('pms import accepts a CSV file that contains different line endings', async () => {
    const { key, locationId } = await gateway.newTenant();
    const columns = 'referenceId,plateType,plateCode,plateNumber,note';
    for (const ending of ['\r\n', '\n', '\r']) {
      const rows = ['\r\n', '\n', '\r', '\n'].map((each, index) => `unit,DXB,A,${index},blue${each}`);
      const file = fileOf(`${columns}${ending}${rows.join('')}`);
      const at = ['--location', locationId, '--mode', 'upsert'];
      expect(await json(key, 'import', file, ...at)).toMatchObject({ rejected: 0 });
    }
    const notes = await prisma.whitelistEntry.findMany({ where: { locationId }, select: { note: true } });
    expect(notes).toEqual(Array.from({ length: 4 }, () => ({ note: 'blue' })));
  });

  test('pms import --mode replace deletes the whitelist entries that the file does not contain, and a dry run of --mode upsert changes nothing', async () => {
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

  test('pms import writes the rejected rows to a file in their original order, and can import this file after the user has corrected it', async () => {
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
        line().replace(/,,,,$/, ',,tomorrow,,'),
      ].join('\n'),
    );
    const { code, out, err } = await pms(key, 'import', file, '--location', locationId, '--batch-size', '2');
    expect(code).toBe(3);
    expect(out).toMatch(/created\s+3/);
    expect(out).toMatch(/rejected\s+4/);
    expect(err).toContain(`${file}.rejected.csv`);
    const rejected = readFileSync(`${file}.rejected.csv`, 'utf8').trim().split('\n');
    expect(rejected[0]).toBe(`${header},line,field,code,message,value`);
    expect(rejected.slice(1).map((row) => row.split(',').slice(10))).toEqual([
      ['3', 'plateCode', 'VALIDATION_ERROR', 'Invalid plate code format', 'ABCD'],
      ['7', '', 'DUPLICATE_VEHICLE', 'Line 4 has the same plate', ''],
      ['8', 'referenceId', 'VALIDATION_ERROR', 'Reference id must not be blank', '""'],
      [
        '9',
        'validUntil',
        'VALIDATION_ERROR',
        expect.stringContaining('"Must be an ISO 8601'),
        ' such as 2026-01-31T08:00:00Z"',
        'tomorrow',
      ],
    ]);
    const corrected = fileOf(rejected.slice(0, 2).join('\n').replace('ABCD', 'ABC'));
    expect(await json(key, 'import', corrected, '--location', locationId)).toMatchObject({ created: 1 });
  });

  test.each([
    ['in one request', '3'],
    ['in two requests', '1'],
  ])(
    'when the gateway rejects a row, pms import imports the next valid row with the same plate (pms sends the two rows %s)',
    async (_, batchSize) => {
      const { key, locationId } = await gateway.newTenant();
      const rows = ['unit 1', 'unit 2', 'unit 3'].map((referenceId) => `${referenceId},DXB,A,1,`);
      const file = fileOf(
        [
          'referenceId,plateType,plateCode,plateNumber,validFrom,validUntil',
          `${rows[0]}2026-02-01T00:00Z,2026-01-01T00:00Z`,
          `${rows[1]}2026-01-01T00:00Z,2026-02-01T00:00Z`,
          `${rows[2]},`,
        ].join('\n'),
      );
      const at = ['--location', locationId, '--mode', 'upsert', '--batch-size', batchSize];
      const { out } = await pms(key, '--json', 'import', file, ...at);
      expect(JSON.parse(out)).toMatchObject({ created: 1, updated: 0, rejected: 2 });
      const rejected = readFileSync(`${file}.rejected.csv`, 'utf8').trim().split('\n').slice(1);
      expect(rejected.map((row) => row.split(',').slice(10))).toEqual([
        ['2', 'validUntil', 'VALIDATION_ERROR', 'Must be after validFrom', expect.anything()],
        ['4', '', 'DUPLICATE_VEHICLE', 'Line 3 has the same plate', ''],
      ]);
      expect(await prisma.whitelistEntry.findFirst({ where: { locationId } })).toMatchObject({
        referenceId: 'unit 2',
      });
    },
  );

  test('pms import stores the weekly hours of a vehicle, and keeps them when a later CSV file has no column for hours', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId, '--mode', 'upsert'];
    const columns = 'referenceId,plateType,plateCode,plateNumber';
    const file = fileOf(
      [
        `${columns},hours,maxEntries`,
        'unit,DXB,A,1,"mon-fri 07:00-19:00; SAT,SUN 22:00-06:00",2',
        'unit,DXB,A,2,SOMEDAY 07:00-19:00,',
        'unit,DXB,A,3,,many',
        'unit,DXB,A,4,MON 07:00-25:00,',
      ].join('\n'),
    );
    expect((await pms(key, 'import', file, ...at)).code).toBe(3);
    const rejected = readFileSync(`${file}.rejected.csv`, 'utf8').trim().split('\n').slice(1);
    expect(rejected.map((row) => row.split(',').slice(10, 12))).toEqual([
      ['3', 'hours'],
      ['4', 'maxEntries'],
      ['5', 'hours.0.to'],
    ]);
    const read = () =>
      prisma.whitelistEntry.findFirst({ where: { locationId }, select: { hours: true, maxEntries: true } });
    const given = {
      hours: [
        { days: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'], from: '07:00', to: '19:00' },
        { days: ['SATURDAY', 'SUNDAY'], from: '22:00', to: '06:00' },
      ],
      maxEntries: 2,
    };
    expect(await read()).toEqual(given);
    await json(key, 'import', fileOf(`${columns}\nunit 2,DXB,A,1`), ...at);
    expect(await read()).toEqual(given);
    await json(key, 'import', fileOf(`${columns},hours\nunit 2,DXB,A,1,`), ...at);
    expect(await read()).toEqual({ hours: null, maxEntries: 2 });
  });

  test('pms import rejects a row whose maxEntries is larger than 2147483647, and accepts every value of maxEntries that pms export writes', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId, '--mode', 'upsert'];
    const rows = ['unit,DXB,A,1,2147483647', 'unit,DXB,A,2,2147483648', 'unit,DXB,A,3,1234567890'];
    const file = fileOf(['referenceId,plateType,plateCode,plateNumber,maxEntries', ...rows].join('\n'));
    expect((await pms(key, 'import', file, ...at)).code).toBe(3);
    expect(readFileSync(`${file}.rejected.csv`, 'utf8')).toContain('Must be 2147483647 or less');
    const { out } = await pms(key, 'export', '--location', locationId);
    expect(await json(key, 'import', fileOf(out), ...at)).toMatchObject({ unchanged: 2, rejected: 0 });
  });

  test('pms import rejects each row whose validFrom the gateway would refuse, and imports all other rows', async () => {
    const { key, locationId } = await gateway.newTenant();
    const starts = ['2026-01-31T08:00Z', '1900-01-01T00:00:00Z', '2026-01-31 08:00', ''];
    const rows = starts.map((validFrom, index) => `unit,DXB,A,${index},${validFrom}`);
    const file = fileOf(['referenceId,plateType,plateCode,plateNumber,validFrom', ...rows].join('\n'));
    const { code, out } = await pms(key, '--json', 'import', file, '--location', locationId);
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 3, created: 2, rejected: 2 });
    expect(await plateNumbersOf(locationId)).toEqual(['0', '3']);
  });

  test('pms import waits when the API key reaches its rate limit, and then continues', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId], burstLimit: 1 });
    const file = fileOf([header, ...Array.from({ length: 4 }, () => line())].join('\n'));
    const { code, err } = await pms(key, 'import', file, '--location', locationId, '--batch-size', '1');
    expect(code).toBe(0);
    expect(err).toMatch(/rate limit of the key is reached; retrying in [12] second/);
    expect(await plateNumbersOf(locationId)).toHaveLength(4);
  });

  test('pms import prints its message about the rate limit without damaging the progress bar', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId], burstLimit: 1 });
    const file = fileOf([header, ...Array.from({ length: 4 }, () => line())].join('\n'));
    const args = ['import', file, '--location', locationId, '--batch-size', '1'];
    const { code, err } = await pmsOnTerminal(100, key, ...args);
    expect(code).toBe(0);
    const lines = screenOf(err);
    const bars = lines.filter((text) => text.includes('rows'));
    expect(bars).toEqual([expect.stringMatching(/^=+ 100% \| 4 rows \| \S+ left$/)]);
    expect(lines.at(-2)).toBe(bars[0]);
    const notices = lines.slice(0, -2);
    expect(notices.length).toBeGreaterThan(0);
    for (const notice of notices)
      expect(notice).toMatch(/^The rate limit of the key is reached; retrying in [12] seconds?$/);
  });

  test('pms import --mode replace changes nothing when the file is too long for one request, contains a plate twice or has an invalid row', async () => {
    const { key, locationId } = await gateway.newTenant();
    const rows = Array.from({ length: 10_001 }, (_, index) => `unit,DXB,A,${index},,,,,,`);
    const replace = (file: string) => pms(key, 'import', file, '--location', locationId, '--mode', 'replace');
    const tooLong = await replace(fileOf([header, ...rows].join('\n')));
    expect(tooLong).toMatchObject({ code: 2, err: expect.stringContaining('at most 10000 rows') });
    const [twice, invalid] = [newEntry(), newEntry({ plateCode: 'ABCD' })];
    for (const rows of [[line(twice), line(twice)], [line(invalid)]]) {
      expect(await replace(fileOf([header, ...rows].join('\n')))).toMatchObject({
        code: 3,
        err: expect.stringContaining('The whitelist was not replaced'),
      });
    }
    expect(await plateNumbersOf(locationId)).toEqual([]);
  });

  test.each([
    ['a byte of Windows-1252', Buffer.from(`${header}\n${line(newEntry(), 'Café')}\n`, 'latin1')],
    ['UTF-16', Buffer.from(`\ufeff${header}\n${line()}`, 'utf16le')],
    [
      'an incomplete character at the end of the file',
      Buffer.from(`${header}\n${line()}\n${line(newEntry(), 'x')}é`).subarray(0, -1),
    ],
  ])('pms import refuses a file that is not in UTF-8: %s', async (_, content) => {
    const { key, locationId } = await gateway.newTenant();
    const path = fileOf('');
    writeFileSync(path, content);
    const { code, err } = await pms(key, 'import', path, '--location', locationId);
    expect(code).toBe(2);
    expect(err).toContain('is not in UTF-8');
    expect(await plateNumbersOf(locationId)).toEqual([]);
  });

  test.each([
    ['a missing column', 'referenceId,plateType,plateCode\n', 'Line 1: the column plateNumber is missing'],
    ['an unknown column', `${header},colour\n`, 'Line 1: unknown column colour'],
    ['a row with too few fields', `${header}\n${line()}\na,b\n`, 'Line 3: '],
    ['a quote that is never closed', `${header}\n"a,b\n`, 'Line '],
    ['no content', '', `is empty: its first line must be ${header}`],
    ['only a byte order mark', '\ufeff', 'is empty'],
    ['semicolons', header.replaceAll(',', ';'), 'Line 1: the columns are separated by semicolons (";")'],
    ['a repeated column', `${header},note\n`, 'Line 1: the column note is repeated'],
    ['tabs', header.replaceAll(',', '\t'), 'Line 1: the columns are separated by tabs ("\\t")'],
  ])(
    'pms import refuses a file with %s, and prints the line or the column of the mistake',
    async (_, text, message) => {
      const { key, locationId } = await gateway.newTenant();
      const { code, err } = await pms(key, 'import', fileOf(text), '--location', locationId);
      expect(code).toBe(2);
      expect(err).toContain(message);
      expect(err).not.toContain('    at ');
      expect(await plateNumbersOf(locationId)).toEqual([]);
    },
  );

  test('pms import prints an error when the file does not exist or is a folder', async () => {
    const missing = join(folder, 'none.csv');
    const run = (path: string) => pms('key', 'import', path, '--location', 'x');
    expect(await run(missing)).toEqual({ code: 2, out: '', err: `Cannot read ${missing}: no such file\n` });
    expect(await run(folder)).toEqual({ code: 2, out: '', err: `Cannot read ${folder}: it is a folder\n` });
  });

  test('pms import refuses an empty file and leaves the whitelist unchanged', async () => {
    const { key, locationId } = await gateway.newTenant();
    await json(key, 'import', fileOf([header, line()].join('\n')), '--location', locationId);
    const replace = ['import', fileOf(''), '--location', locationId, '--mode', 'replace'];
    expect(await pms(key, ...replace)).toMatchObject({ code: 2 });
    expect(await plateNumbersOf(locationId)).toHaveLength(1);
  });

  test('pms import sends rows with many weekly hours in several requests', async () => {
    const { key, locationId } = await gateway.newTenant();
    const hours = Array.from(
      { length: 21 },
      (_, index) => `MON-SUN 0${index % 10}:00-0${index % 10}:30`,
    ).join(';');
    const rows = Array.from({ length: 1500 }, () => `${line().replace(/,,$/, `,"${hours}",`)}`);
    const file = fileOf([header, ...rows].join('\n'));
    expect(await json(key, 'import', file, '--location', locationId)).toMatchObject({
      created: 1500,
      rejected: 0,
    });
    const replace = await pms(key, 'import', file, '--location', locationId, '--mode', 'replace');
    expect(replace).toMatchObject({ code: 2, out: '' });
    expect(replace.err).toContain('is too large for --mode replace');
  });

  test('pms import rejects a row when one of its texts is too long for a request, and imports the other rows', async () => {
    const { key, locationId } = await gateway.newTenant();
    const [good, long] = [newEntry(), newEntry()];
    const file = fileOf([header, line(long, 'x'.repeat(40_000)), line(good)].join('\n'));
    const { code, out } = await pms(key, '--json', 'import', file, '--location', locationId);
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 3, created: 1, rejected: 1 });
    expect(await plateNumbersOf(locationId)).toEqual([good.plateNumber]);
    expect(readFileSync(`${file}.rejected.csv`, 'utf8')).toContain(',2,note,VALIDATION_ERROR,');
  });

  test('pms import reads a CSV file from standard input', async () => {
    const { key, locationId } = await gateway.newTenant();
    const text = [header, line(), line()].join('\n');
    const { code, out } = await pmsWithInput(text, key, '--json', 'import', '-', '--location', locationId);
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, created: 2 });
  });
});
