import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entryColumns } from '../cli/whitelist-csv.ts';
import { openCommandLine } from './support/command-line.ts';
import { newEntry, openTestGateway, serve } from './support/harness.ts';

const gateway = await openTestGateway();
const { prisma } = gateway.database;
const { pms, json, fileOf, folder } = openCommandLine(await serve(gateway));

const header = entryColumns.join(',');

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

  test('takes one request for each 5,000 entries', async () => {
    const { key, locationId } = await gateway.newTenant();
    const rows = Array.from({ length: 5001 }, (_, index) => `unit,DXB,A,${index},,,,`);
    await json(
      key,
      'import',
      fileOf([header, ...rows].join('\n')),
      '--location',
      locationId,
      '--batch-size',
      '10000',
    );
    const gate = await gateway.newKey({ locationIds: [locationId], hourlyLimit: 2 });
    const { code, out } = await pms(gate, 'export', '--location', locationId);
    expect(code).toBe(0);
    expect(out).toBe([header, ...rows, ''].join('\n'));
  });

  test('leaves the file of an earlier export alone when it fails', async () => {
    const file = fileOf('earlier');
    expect(await pms('key', 'export', '--location', 'x', '--output', file)).toMatchObject({ code: 1 });
    expect(readFileSync(file, 'utf8')).toBe('earlier');
  });
});

describe('pms whitelist', () => {
  test('adds, finds, lists and removes a vehicle', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    const added = await json(
      key,
      ...['whitelist', 'add', 'DXB/A/7001', ...at, '--reference', 'unit-7', '--note', 'red'],
      ...['--until', '2020-01-01T00:00:00Z'],
    );
    expect(added).toMatchObject({ plateNumber: '7001', referenceId: 'unit-7', note: 'red' });
    const found = { allowed: false, reason: 'EXPIRED', entry: added };
    expect(await json(key, 'whitelist', 'find', 'DXB A 7001', ...at)).toMatchObject(found);
    expect((await pms(key, 'whitelist', 'find', 'DXB-A-7001', ...at)).out).toMatch(/may enter\s+│ no /);

    await json(key, 'whitelist', 'add', 'AUH/17/8', ...at, '--reference', 'unit-8');
    expect(await json(key, 'whitelist', 'list', ...at)).toMatchObject([added, { plateNumber: '8' }]);
    expect(await json(key, 'whitelist', 'list', ...at, '--reference', 'unit-7')).toEqual([added]);
    const limited = await pms(key, 'whitelist', 'list', ...at, '--limit', '1');
    expect(limited.out).toContain('DXB A 7001');
    expect(limited.out).not.toContain('AUH');
    expect(limited.err).toContain('There are more than these 1');

    expect(await json(key, 'whitelist', 'remove', 'DXB/A/7001', ...at)).toEqual(added);
    expect(await json(key, 'whitelist', 'list', ...at)).toHaveLength(1);
    expect(await pms(key, 'whitelist', 'remove', 'DXB/A/7001', ...at)).toMatchObject({
      code: 1,
      err: 'The whitelist does not have DXB A 7001.\n',
    });
  });

  test('finds what a camera may have misread', async () => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    await json(key, 'whitelist', 'add', 'DXB/B/7001', ...at, '--reference', 'unit-7');
    const { out } = await pms(key, 'whitelist', 'find', 'DXB/8/7001', ...at, '--tolerance', '1');
    expect(out).toContain('DXB B 7001');
  });
});
