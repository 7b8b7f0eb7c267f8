import { describe, expect, test } from 'vitest';
import { firstBatchRows } from '../../src/whitelist/import/import.ts';
import { rowsPerStatement } from '../../src/whitelist/import/rows.ts';
import { sharedTestGateway } from '../support/harness.ts';
import { importRow as row, openImports } from '../support/imports.ts';

const gateway = await sharedTestGateway();
const { importEntries, whitelistOf } = openImports(gateway);

const batchRows = rowsPerStatement[gateway.database.kind];
/** The number of rows in the first batch of an import with several batches. */
const firstRows = Math.min(firstBatchRows, batchRows);

const rowsOf = (count: number, note: string | null = null) =>
  Array.from({ length: count }, (_, index) => row(String(index), note));

describe('imports of several batches of rows', () => {
  test.each([
    ['one batch', batchRows],
    ['one row more than one batch', batchRows + 1],
    ['two full batches', firstRows + batchRows],
    ['one row more than two full batches', firstRows + batchRows + 1],
  ])('a whitelist import of %s creates a whitelist entry for each row', async (_, count) => {
    const { locationId, key } = await gateway.newTenant();
    const result = await importEntries(locationId, key, rowsOf(count));
    expect(result).toMatchObject({ total: count, created: count, rejected: 0, rows: [] });
    expect((await whitelistOf(locationId)).size).toBe(count);
  });

  test.each(['CREATE', 'UPSERT', 'REPLACE'] as const)(
    'a dry run and a real import in the mode %s report the same rejected rows, even when the import consists of several batches',
    async (mode) => {
      const { locationId, key } = await gateway.newTenant();
      const last = firstRows + batchRows; // the index of the only row in the third batch
      await importEntries(locationId, key, [row('1', 'old'), row(String(last - 1), 'old')]);
      const before = await whitelistOf(locationId);
      const entries = [...rowsOf(last, 'new'), row('2')];
      entries[0] = row('x');
      entries[firstRows] = row('1');
      const dry = await importEntries(locationId, key, entries, { mode, dryRun: true });
      expect(await whitelistOf(locationId)).toEqual(before);
      const real = await importEntries(locationId, key, entries, { mode });
      expect(dry).toEqual(real);
      const isTaken = (index: number) => ({ index, error: { message: expect.stringContaining('already') } });
      const faults = [
        { index: 0, error: { field: 'plateNumber', value: 'x' } },
        { index: firstRows, error: { message: 'Row 1 has the same plate' } },
        { index: last, error: { message: 'Row 2 has the same plate' } },
      ];
      if (mode === 'CREATE') faults.splice(1, 0, isTaken(1));
      if (mode === 'CREATE') faults.splice(-1, 0, isTaken(last - 1));
      expect(real.rows).toMatchObject(faults);
      const rejected = faults.length;
      const counts = {
        CREATE: { created: last + 1 - rejected, updated: 0, rejected },
        UPSERT: { created: last - 1 - rejected, updated: 2, rejected },
        REPLACE: { created: 0, updated: 0, rejected },
      };
      expect(real).toMatchObject(counts[mode]);
    },
  );

  test('a whitelist import stores the rows of later batches when all rows of the first batch are invalid', async () => {
    const { locationId, key } = await gateway.newTenant();
    const entries = rowsOf(firstRows + batchRows + 1).fill(row('x'), 0, firstRows);
    const result = await importEntries(locationId, key, entries);
    expect(result).toMatchObject({ created: batchRows + 1, rejected: firstRows });
    expect(result.rows.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: firstRows }, (_, index) => index),
    );
    expect((await whitelistOf(locationId)).size).toBe(batchRows + 1);
  });

  test('a REPLACE import removes thousands of whitelist entries, and keeps the entries whose plates are in the import', async () => {
    const { locationId, key } = await gateway.newTenant();
    const entries = Array.from({ length: 6_000 }, (_, index) => row(String(index)));
    await importEntries(locationId, key, entries);
    const kept = entries.filter((_, index) => index % 1_000 === 0);
    const result = await importEntries(locationId, key, kept, { mode: 'REPLACE' });
    expect(result).toMatchObject({ created: 0, unchanged: 6, deleted: 5_994 });
    expect((await whitelistOf(locationId)).size).toBe(6);
  });

  test('a whitelist import of 10,000 rows creates the whitelist entries in the order of the rows', async () => {
    const { locationId, key } = await gateway.newTenant();
    const entries = Array.from({ length: 10_000 }, (_, index) => row(String(index)));
    expect(await importEntries(locationId, key, entries)).toMatchObject({ created: 10_000, rejected: 0 });
    const { body } = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    expect(body.data.map((entry: { plateNumber: string }) => Number(entry.plateNumber))).toEqual(
      entries.map((_, index) => index),
    );
    const records = await gateway.database.prisma.auditRecord.findMany({ where: { locationId } });
    // On PostgreSQL, the gateway imports 1,000 rows in the first batch, and at most 2,500 rows in each later batch.
    expect(records).toHaveLength(gateway.database.kind === 'embedded' ? 40 : 5);
    expect(records[0]).toMatchObject({ action: 'whitelist.imported', changes: { mode: 'CREATE' } });
  });

  // PostgreSQL can run an import with the query plan of an earlier, smaller import. If the query plan contains a nested
  // loop, an import of 10,000 rows takes minutes.
  test('a whitelist import of 10,000 rows succeeds in every import mode, even after imports with few rows', async () => {
    const { locationId, key } = await gateway.newTenant();
    const entries = (note: string | null) =>
      Array.from({ length: 10_000 }, (_, index) => row(String(index), note));
    await importEntries(locationId, key, entries(null), { mode: 'UPSERT' });
    const steps = [
      [entries(null), { mode: 'UPSERT' }, { unchanged: 10_000 }],
      [entries('new'), { mode: 'UPSERT' }, { updated: 10_000 }],
      [entries('new').slice(5000), { mode: 'REPLACE' }, { unchanged: 5000, deleted: 5000 }],
      [entries('new'), { mode: 'REPLACE' }, { created: 5000, unchanged: 5000 }],
      [entries('new'), { mode: 'CREATE' }, { rejected: 10_000 }],
    ] as const;
    for (const [rows, options, expected] of steps) {
      expect(await importEntries(locationId, key, [...rows], options)).toMatchObject(expected);
    }
  });
});
