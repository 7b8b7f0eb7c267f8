import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AuthenticatedKey } from '../src/auth.ts';
import { newId } from '../src/ids.ts';
import { createLocationStore } from '../src/location-store.ts';
import { locationScope, reachesLocation } from '../src/scope.ts';
import { createWhitelistReads } from '../src/whitelist-reads.ts';
import { newEntry, openTestGateway } from './harness.ts';
import { statementsOf } from './statements.ts';

const gateway = await openTestGateway();
const { prisma, sql } = gateway.database;
const whitelist = createWhitelistReads(sql);
const locations = createLocationStore(sql);

/** Two locations with entries that share reference ids and plate types. */
async function newWhitelists() {
  const { companyId } = await gateway.newTenant();
  const ids = [await gateway.newLocation(companyId), await gateway.newLocation(companyId)];
  await prisma.whitelistEntry.createMany({
    data: ids.flatMap((locationId) =>
      Array.from({ length: 12 }, (_, index) => ({
        ...newEntry({ referenceId: `r${index % 3}`, plateType: index % 2 ? 'DXB' : 'SHJ' }),
        id: newId(),
        locationId,
      })),
    ),
  });
  return ids;
}

describe('hand-written statements', () => {
  test('return the pages and counts that Prisma does, whatever is joined in one turn', async () => {
    const ids = await newWhitelists();
    const all = await prisma.whitelistEntry.findMany({
      where: { locationId: { in: ids } },
      orderBy: { id: 'asc' },
    });
    const bound = fc.option(fc.constantFrom(...all.map((entry) => entry.id)), { nil: undefined });
    const question = fc.record({
      locationId: fc.constantFrom(...ids),
      referenceId: fc.constantFrom(undefined, 'r0', 'r1', 'nobody'),
      plateType: fc.constantFrom(undefined, 'DXB', 'AUH'),
      after: bound,
      before: bound,
      limit: fc.integer({ min: 1, max: 15 }),
      descending: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(question, { minLength: 1, maxLength: 5 }), async (questions) => {
        await Promise.all(
          questions.map(async (asked) => {
            const { limit, descending, after, before, locationId, referenceId, plateType } = asked;
            const filters = {
              locationId,
              ...(referenceId && { referenceId }),
              ...(plateType && { plateType }),
            };
            const expected = await prisma.whitelistEntry.findMany({
              where: { ...filters, id: { ...(after && { gt: after }), ...(before && { lt: before }) } },
              orderBy: { id: descending ? 'desc' : 'asc' },
              take: limit,
            });
            const page = await whitelist.page(asked);
            expect(page?.entries).toEqual(expected.map((entry) => expect.objectContaining(entry)));
            expect(await whitelist.count(asked)).toBe(await prisma.whitelistEntry.count({ where: filters }));
          }),
        );
      }),
      { numRuns: 20 },
    );
  });

  test('find the entry of a plate that Prisma finds, and know an unknown location', async () => {
    const [locationId = ''] = await newWhitelists();
    const entry = await prisma.whitelistEntry.findFirstOrThrow({ where: { locationId } });
    const { plateType, plateCode, plateNumber } = entry;
    const plate = { plateType, plateCode, plateNumber };
    const [found, missing, unknown] = await Promise.all([
      whitelist.findPlate({ locationId, ...plate }),
      whitelist.findPlate({ locationId, ...plate, plateCode: 'ZZ' }),
      whitelist.findPlate({ locationId: newId(), ...plate }),
    ]);
    expect(found?.entry).toMatchObject(entry);
    expect(missing).toMatchObject({ id: locationId, entry: null });
    expect(unknown).toBeUndefined();
  });

  test('reach the locations that the scope as a where and as a test of a row reach', async () => {
    const tenants = [await gateway.newTenant(), await gateway.newTenant()];
    await gateway.newLocation(tenants[0]!.companyId);
    const rows = await prisma.location.findMany({
      where: { companyId: { in: tenants.map((tenant) => tenant.companyId) } },
    });
    const some = <Item>(items: Item[]) => fc.subarray(items);
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        some(tenants.map((tenant) => tenant.companyId)),
        some(rows.map((row) => row.id)),
        async (unrestricted, companyIds, locationIds) => {
          const key = { unrestricted, companyIds, locationIds } as unknown as AuthenticatedKey;
          const byRow = rows.filter((row) => reachesLocation(key, row)).map((row) => row.id);
          const byWhere = await prisma.location.findMany({
            where: { AND: [locationScope(key), { id: { in: rows.map((row) => row.id) } }] },
          });
          const byStatement = await Promise.all(
            tenants.map(({ companyId }) =>
              locations.ofCompany({ companyId, key, limit: 100, descending: false }),
            ),
          );
          const ids = (found: { id: string }[]) => found.map(({ id }) => id).sort();
          expect(ids(byWhere)).toEqual([...byRow].sort());
          expect(ids(byStatement.flat())).toEqual([...byRow].sort());
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('nested queries', () => {
  test('take a number of statements that does not grow with the lists', async () => {
    const companyIds = [await gateway.newCompany(), await gateway.newCompany(), await gateway.newCompany()];
    for (const companyId of companyIds) {
      for (let index = 0; index < 3; index += 1) {
        const locationId = await gateway.newLocation(companyId);
        await prisma.whitelistEntry.createMany({
          data: [newEntry(), newEntry()].map((entry) => ({ ...entry, id: newId(), locationId })),
        });
      }
    }
    const query = `{ companies(first: 100) { totalCount nodes { name locations(first: 5) { totalCount nodes {
      name status { occupied whitelistedVehicles } company { name }
      whitelist(first: 2) { totalCount nodes { plateNumber location { name company { name } } } } } } } } }`;
    const count = async (ids: string[]) => {
      const key = await gateway.newKey({ companyIds: ids });
      await gateway.rest('GET', '/health', { key }); // the look-up of the key
      let body: { errors?: unknown; data?: { companies: { totalCount: number } } } = {};
      const statements = await statementsOf(async () => ({ body } = await gateway.graph(query, { key })));
      expect(body.errors).toBeUndefined();
      expect(body.data?.companies.totalCount).toBe(ids.length);
      return statements.filter((statement) => !statement.includes('"UsageRecord"')).length;
    };
    const one = await count(companyIds.slice(0, 1));
    expect(await count(companyIds)).toBe(one);
    expect(one).toBeLessThanOrEqual(11);
  });

  test.each([
    ['a list', 'whitelist', 1],
    ['a gate decision', 'plateAccess', 1],
  ])('%s takes %s statement', async (_, field, expected) => {
    const { locationId, key } = await gateway.newTenant();
    await gateway.rest('GET', '/health', { key });
    const query =
      field === 'whitelist'
        ? `{ whitelist(locationId: "${locationId}") { nodes { id } } }`
        : `{ plateAccess(locationId: "${locationId}", plate: { plateType: "DXB", plateCode: "A", plateNumber: "7" }) { allowed } }`;
    const statements = await statementsOf(() => gateway.graph(query, { key }));
    expect(statements.filter((statement) => !statement.includes('"UsageRecord"'))).toHaveLength(expected);
  });
});
