import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sharedTestGateway } from '../support/harness.ts';
import { importDocument, importRow as row, openImports } from '../support/imports.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();

const createDocument = `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: $locationId, input: $input) { id } }`;

const { importEntries, whitelistOf } = openImports(gateway);

describe('imports of rows into a whitelist', () => {
  test('a whitelist import stores the valid rows, and reports the index, the field and the value for each invalid row', async () => {
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

  test('an UPSERT import replaces the whitelist entries that differ from the imported rows, and adds an entry for each new plate', async () => {
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

  test('a REPLACE import makes the whitelist equal to the rows of the import, and changes nothing when a row is rejected', async () => {
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

  test('a whitelist import reports an entry as unchanged only if all its values, including empty values, equal the values in the imported row', async () => {
    const { locationId, key } = await gateway.newTenant();
    const full = {
      ...row('1', 'n'),
      validFrom: '2026-01-01T04:00:00+04:00',
      validUntil: '2027-01-01T00:00:00Z',
    };
    const bare = { ...row('2'), vehicleType: null };
    await importEntries(locationId, key, [full, bare]);
    const upsert = (...entries: unknown[]) => importEntries(locationId, key, entries, { mode: 'UPSERT' });
    expect(await upsert({ ...full, validFrom: '2026-01-01T00:00:00Z' }, bare)).toMatchObject({
      unchanged: 2,
    });
    expect(await upsert({ ...full, validUntil: null }, { ...bare, note: '' })).toMatchObject({ updated: 2 });
    expect(await upsert({ ...full, validUntil: undefined }, { ...bare, note: '' })).toMatchObject({
      unchanged: 2,
    });
  });

  test('a whitelist import that changes entries in one batch writes one audit record with the ids of the changed entries', async () => {
    const { locationId, key } = await gateway.newTenant();
    const { prisma } = gateway.database;
    const idsByNumber = async () => {
      const entries = await prisma.whitelistEntry.findMany({ where: { locationId } });
      return Object.fromEntries(entries.map(({ plateNumber, id }) => [plateNumber, id]));
    };
    await importEntries(locationId, key, [row('1'), row('2')]);
    const before = await idsByNumber();
    const next = [row('2', 'new'), row('3')];
    await importEntries(locationId, key, next, { mode: 'REPLACE', dryRun: true });
    await importEntries(locationId, key, next, { mode: 'REPLACE' });
    await importEntries(locationId, key, next, { mode: 'REPLACE' });
    const after = await idsByNumber();
    const records = await prisma.auditRecord.findMany({ where: { locationId }, orderBy: { id: 'asc' } });
    expect(records.map(({ action, targetId }) => [action, targetId])).toEqual([
      ['whitelist.imported', locationId],
      ['whitelist.imported', locationId],
    ]);
    expect(records[1]!.changes).toEqual({
      mode: 'REPLACE',
      created: [after['3']],
      updated: [before['2']],
      deleted: [before['1']],
    });
  });

  test('the dry run of a whitelist import returns the same result as the real import', async () => {
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

  test.each(['CREATE', 'UPSERT', 'REPLACE'] as const)(
    'the dry run of a whitelist import in the mode %s runs no SQL statement that changes data',
    async (mode) => {
      const { locationId, key } = await gateway.newTenant();
      await importEntries(locationId, key, [row('1'), row('2')]);
      const statements = await statementsOfRequest(() =>
        importEntries(locationId, key, [row('2', 'new'), row('3')], { mode, dryRun: true }),
      );
      expect(statements).not.toEqual([]);
      for (const statement of statements) expect(statement).not.toMatch(/INSERT|UPDATE|DELETE/);
    },
  );

  test.runIf(!testServerUrl)(
    'during a REPLACE import on the embedded database, gates still get decisions',
    async () => {
      const { locationId, key } = await gateway.newTenant();
      const other = await gateway.newTenant();
      const entries = Array.from({ length: 1_000 }, (_, index) => row(String(index)));
      await importEntries(locationId, key, entries);
      const { locationId: gate } = other;
      const plateAccess = `{ plateAccess(locationId: "${gate}", plate: { plateType: "DXB", plateCode: "A", plateNumber: "1" }) { reason } }`;
      const ask = () => gateway.graph(plateAccess, { key: other.key });
      await ask();
      let isReplaced = false;
      const replaced = importEntries(
        locationId,
        key,
        entries.map((_, index) => row(String(5_000 + index))),
        { mode: 'REPLACE' },
      ).then(() => (isReplaced = true));
      let answersMeanwhile = 0;
      while (!isReplaced) {
        await sleep(10);
        const { body } = await ask();
        expect(body.data).toEqual({ plateAccess: { reason: 'NOT_LISTED' } });
        if (!isReplaced) answersMeanwhile += 1;
      }
      await replaced;
      expect(answersMeanwhile).toBeGreaterThanOrEqual(3);
    },
  );

  test.each([
    ['no row', [], 'entries'],
    ['more than 10,000 rows', Array.from({ length: 10_001 }, () => row('1')), 'entries'],
    ['a row without a plate', [{ referenceId: 'r' }], 'entries.0.plateType'],
  ])('a whitelist import with %s is refused, and no row is stored', async (_, entries, field) => {
    const { locationId, key } = await gateway.newTenant();
    const { body } = await gateway.graph(importDocument, { key, variables: { locationId, entries } });
    expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } });
  });

  test("a whitelist import for a location outside the API key's scope is answered with NOT_FOUND, even when all rows are invalid", async () => {
    const { locationId } = await gateway.newTenant();
    const { key } = await gateway.newTenant();
    for (const entries of [[row('1')], [row('x')]]) {
      for (const mode of ['CREATE', 'UPSERT', 'REPLACE']) {
        const { body } = await gateway.graph(importDocument, {
          key,
          variables: { locationId, entries, mode },
        });
        expect(body.errors[0].extensions.code).toBe('NOT_FOUND');
      }
    }
  });

  test.runIf(testServerUrl)(
    'after 20 concurrent REPLACE imports, the whitelist contains exactly the rows of one of the imports',
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

  test.runIf(testServerUrl)(
    'after concurrent imports and single requests that add the same plates, the whitelist contains each plate once',
    async () => {
      const { locationId, key } = await gateway.newTenant();
      const numbers = Array.from({ length: 1000 }, (_, index) => String(index));
      const modes = ['CREATE', 'UPSERT', 'REPLACE', 'CREATE'] as const;
      const imports = Array.from({ length: 20 }, (_, index) => {
        const entries = numbers.map((number) => row(number, `n${index}`));
        // In half of the imports, the plates are in the reverse order. Two imports that contain the same plates in
        // different orders must not cause a deadlock.
        if (index % 2) entries.reverse();
        return importEntries(locationId, key, entries, { mode: modes[index % modes.length]! });
      });
      const creates = numbers
        .filter((number) => Number(number) % 20 === 0)
        .map(async (number) => {
          const { body } = await gateway.graph(createDocument, {
            key,
            variables: { locationId, input: row(number, 'single') },
          });
          const code = body.errors?.[0].extensions.code;
          expect([undefined, 'DUPLICATE_VEHICLE']).toContain(code);
          return code === undefined ? 1 : 0;
        });
      const results = await Promise.all(imports);
      const created = (await Promise.all(creates)).reduce<number>((sum, one) => sum + one, 0);
      // After the imports, the whitelist contains each plate exactly once. All responses together report how many
      // entries the gateway created and how many it deleted, and the difference must equal the number of plates.
      expect((await whitelistOf(locationId)).size).toBe(numbers.length);
      expect(results.reduce((sum, result) => sum + result.created - result.deleted, created)).toBe(
        numbers.length,
      );
    },
  );
});
