import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newEntry, openTestGateway } from './harness.ts';
import { testServerUrl } from './scratch-database.ts';

const gateway = await openTestGateway();

const document = `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!, $mode: ImportMode, $dryRun: Boolean) {
  importWhitelistEntries(locationId: $locationId, entries: $entries, mode: $mode, dryRun: $dryRun) {
    total created updated unchanged deleted rejected
    rows { index outcome entry { plateNumber } error { code message field value } } } }`;

interface Options {
  mode?: 'CREATE' | 'UPSERT' | 'REPLACE';
  dryRun?: boolean;
}

async function importEntries(locationId: string, key: string, entries: unknown[], options: Options = {}) {
  const { body } = await gateway.graph(document, { key, variables: { locationId, entries, ...options } });
  expect(body.errors).toBeUndefined();
  return body.data.importWhitelistEntries;
}

/** What a whitelist holds, by plate number. */
async function whitelistOf(locationId: string): Promise<Map<string, string | null>> {
  const entries = await gateway.database.prisma.whitelistEntry.findMany({ where: { locationId } });
  return new Map(entries.map((entry) => [entry.plateNumber, entry.note]));
}

const row = (plateNumber: string, note: string | null = null) =>
  newEntry({ plateNumber, note, referenceId: 'r' });

describe('an import', () => {
  test('takes the good rows and names every bad one by index, code, field and value', async () => {
    const { locationId, key } = await gateway.newTenant();
    await importEntries(locationId, key, [row('1')]);
    const result = await importEntries(locationId, key, [
      row('1'),
      row('2'),
      row('x'),
      row('2'),
      { ...row('3'), plateType: 'dxb', referenceId: '' },
    ]);
    expect(result).toMatchObject({ total: 5, created: 1, updated: 0, unchanged: 0, deleted: 0, rejected: 4 });
    expect(result.rows).toMatchObject([
      {
        index: 0,
        outcome: 'REJECTED',
        entry: { plateNumber: '1' },
        error: { code: 'DUPLICATE_VEHICLE', field: null },
      },
      { index: 2, entry: null, error: { code: 'VALIDATION_ERROR', field: 'plateNumber', value: 'x' } },
      { index: 3, entry: null, error: { code: 'DUPLICATE_VEHICLE', message: 'Row 1 has the same plate' } },
      { index: 4, error: { code: 'VALIDATION_ERROR', field: 'referenceId', value: '' } },
    ]);
  });

  test('as UPSERT replaces the values of a plate, and leaves alone what is the same', async () => {
    const { locationId, key } = await gateway.newTenant();
    await importEntries(locationId, key, [row('1', 'old'), row('2', 'same')]);
    const before = await gateway.database.prisma.whitelistEntry.findFirstOrThrow({
      where: { locationId, plateNumber: '2' },
    });
    const result = await importEntries(locationId, key, [row('1', 'new'), row('2', 'same'), row('3')], {
      mode: 'UPSERT',
    });
    expect(result).toMatchObject({ created: 1, updated: 1, unchanged: 1, rejected: 0, rows: [] });
    expect(await whitelistOf(locationId)).toEqual(
      new Map([
        ['1', 'new'],
        ['2', 'same'],
        ['3', null],
      ]),
    );
    const after = await gateway.database.prisma.whitelistEntry.findUniqueOrThrow({
      where: { id: before.id },
    });
    expect(after).toEqual(before);
  });

  test('as REPLACE makes the whitelist equal to the rows, and changes nothing when one is rejected', async () => {
    const { locationId, key } = await gateway.newTenant();
    await importEntries(locationId, key, [row('1'), row('2', 'old')]);
    const refused = await importEntries(locationId, key, [row('3'), row('x')], { mode: 'REPLACE' });
    expect(refused).toMatchObject({ created: 0, deleted: 0, rejected: 1 });
    expect([...(await whitelistOf(locationId)).keys()].sort()).toEqual(['1', '2']);
    const result = await importEntries(locationId, key, [row('2', 'new'), row('3')], { mode: 'REPLACE' });
    expect(result).toMatchObject({ created: 1, updated: 1, deleted: 1, rejected: 0 });
    expect(await whitelistOf(locationId)).toEqual(
      new Map([
        ['2', 'new'],
        ['3', null],
      ]),
    );
  });

  test('says as a dry run what it would do, and does what a model of a whitelist does', async () => {
    const plate = fc.constantFrom('1', '2', '3', '4', 'x');
    const rows = fc.array(fc.tuple(plate, fc.constantFrom(null, 'a', 'b')), { minLength: 1, maxLength: 6 });
    const mode = fc.constantFrom('CREATE' as const, 'UPSERT' as const, 'REPLACE' as const);
    await fc.assert(
      fc.asyncProperty(rows, rows, mode, async (first, second, secondMode) => {
        const { locationId, key } = await gateway.newTenant();
        const entries = (pairs: [string, string | null][]) =>
          pairs.map(([number, note]) => row(number, note));
        await importEntries(locationId, key, entries(first));
        const before = await whitelistOf(locationId);

        const expected = new Map(before);
        const seen = new Set<string>();
        let rejected = 0;
        for (const [number, note] of second) {
          const taken = secondMode === 'CREATE' && before.has(number);
          if (number === 'x' || seen.has(number) || taken) rejected += 1;
          else expected.set(number, note);
          seen.add(number);
        }
        if (secondMode === 'REPLACE')
          [...expected.keys()].forEach((number) => seen.has(number) || expected.delete(number));
        const nothing = secondMode === 'REPLACE' && rejected > 0;

        const dry = await importEntries(locationId, key, entries(second), { mode: secondMode, dryRun: true });
        expect(await whitelistOf(locationId)).toEqual(before);
        const real = await importEntries(locationId, key, entries(second), { mode: secondMode });
        expect(dry).toEqual(real);
        expect(real.rejected).toBe(rejected);
        expect(await whitelistOf(locationId)).toEqual(nothing ? before : expected);
      }),
      { numRuns: 12 },
    );
  });

  test('takes 10,000 rows in one call, in their order, and leaves an audit record for each batch', async () => {
    const { locationId, key } = await gateway.newTenant();
    const entries = Array.from({ length: 10_000 }, (_, index) => row(String(index)));
    expect(await importEntries(locationId, key, entries)).toMatchObject({ created: 10_000, rejected: 0 });
    const { body } = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    expect(body.data.map((entry: { plateNumber: string }) => Number(entry.plateNumber))).toEqual(
      entries.map((_, index) => index),
    );
    const records = await gateway.database.prisma.auditRecord.findMany({ where: { locationId } });
    expect(records).toHaveLength(4);
    expect(records[0]).toMatchObject({ action: 'whitelist.imported', changes: { mode: 'CREATE' } });
  });

  test.each([
    ['no row', [], 'entries'],
    ['more than 10,000 rows', Array.from({ length: 10_001 }, () => row('1')), 'entries'],
    ['a row without a plate', [{ referenceId: 'r' }], 'entries.0.plateType'],
  ])('is refused as a whole with %s', async (_, entries, field) => {
    const { locationId, key } = await gateway.newTenant();
    const { body } = await gateway.graph(document, { key, variables: { locationId, entries } });
    expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } });
  });

  test('is NOT_FOUND for a location out of reach, also with nothing but bad rows', async () => {
    const { locationId } = await gateway.newTenant();
    const { key } = await gateway.newTenant();
    for (const entries of [[row('1')], [row('x')]]) {
      for (const mode of ['CREATE', 'UPSERT', 'REPLACE']) {
        const { body } = await gateway.graph(document, { key, variables: { locationId, entries, mode } });
        expect(body.errors[0].extensions.code).toBe('NOT_FOUND');
      }
    }
  });

  test.runIf(testServerUrl)(
    'and 20 others at once leave one of the results that some order of them has',
    async () => {
      const { locationId, key } = await gateway.newTenant();
      const sets = Array.from({ length: 20 }, (_, index) => [
        row('1', `n${index}`),
        row(String(100 + index), `n${index}`),
      ]);
      await Promise.all(sets.map((entries) => importEntries(locationId, key, entries, { mode: 'REPLACE' })));
      const left = await whitelistOf(locationId);
      const winner = left.get('1')!;
      expect(left).toEqual(
        new Map([
          ['1', winner],
          [String(100 + Number(winner.slice(1))), winner],
        ]),
      );
    },
  );
});
