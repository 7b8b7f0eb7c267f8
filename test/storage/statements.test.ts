import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AuthenticatedKey } from '../../src/auth/key.ts';
import { newId } from '../../src/ids.ts';
import { prismaList } from '../../src/database/prisma-list.ts';
import { createStatementNamer } from '../../src/database/statement-namer.ts';
import { namedStatement } from '../../src/database/named-statement.ts';
import { createRowsById } from '../../src/database/statement-batch.ts';
import type { Sql, Statement } from '../../src/database/types.ts';
import { createLocationFinder } from '../../src/location-access/find-location.ts';
import { createLocationReads } from '../../src/locations/reads.ts';
import type { Page, PagedList } from '../../src/paging.ts';
import { createParkingReads } from '../../src/parking/reads.ts';
import { isInScope, locationScope, reachesLocation, scopeOfLocation } from '../../src/auth/scope.ts';
import { createFeedCursors } from '../../src/whitelist/feed/cursor.ts';
import { createWhitelistFeed } from '../../src/whitelist/feed/feed.ts';
import { createAccessDecisions } from '../../src/gates/decisions.ts';
import type { PlateInput } from '../../src/whitelist/matching.ts';
import { createWhitelistReads, type WhitelistFilters } from '../../src/whitelist/reads.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { statementsOf, statementsOfRequest } from '../support/statements.ts';

const gateway = await openTestGateway();
const { prisma } = gateway.database;
const feedCursors = createFeedCursors(gateway.config.keyPepper);
const whitelist = createWhitelistReads({ ...gateway.database, feedCursors });
const decisions = createAccessDecisions(gateway.database);
const locations = { ...createLocationFinder(gateway.database), ...createLocationReads(gateway.database) };

/** An operator's API key, whose scope contains every company and every location. */
const operator = { unrestricted: true, companyIds: [], locationIds: [] } as unknown as AuthenticatedKey;

const [morning, noon, evening] = ['06', '12', '18'].map((hour) => new Date(`2026-03-01T${hour}:00:00Z`)) as [
  Date,
  Date,
  Date,
];

/** Creates two locations whose whitelists contain the same reference ids, plates and times. */
async function newWhitelists() {
  const { companyId } = await gateway.newTenant();
  const ids = [await gateway.newLocation(companyId), await gateway.newLocation(companyId)];
  await prisma.whitelistEntry.createMany({
    data: ids.flatMap((locationId) =>
      Array.from({ length: 12 }, (_, index) => ({
        ...newEntry({
          referenceId: `r${index % 3}`,
          plateType: index % 2 ? 'DXB' : 'SHJ',
          plateCode: index % 4 ? 'A' : 'B',
          plateNumber: String(index),
          validFrom: [null, morning, noon][index % 3],
          validUntil: [null, evening][index % 2],
        }),
        id: newId(),
        locationId,
      })),
    ),
  });
  return ids;
}

describe('hand-written SQL statements', () => {
  test("a request for a location outside the API key's scope reads no rows, so the response time does not show whether the location exists", async () => {
    const [foreign = ''] = await newWhitelists();
    const { sql, kind } = gateway.database;
    let found: readonly object[] = [];
    const watched: Sql = {
      async query<Row>(...statement: Parameters<Sql['query']>) {
        const rows = await sql.query<Row>(...statement);
        found = rows as object[];
        return rows;
      },
    };
    const outsider = {
      unrestricted: false,
      companyIds: [newId(), newId()],
      locationIds: [newId()],
    } as unknown as AuthenticatedKey;
    const reads = createWhitelistReads({ sql: watched, kind, feedCursors });
    const list = reads.entriesOf(outsider, foreign);
    const page = { after: undefined, before: undefined, limit: 10, descending: false };
    const plate = { plateType: 'SHJ', plateCode: 'B', plateNumber: '0' };
    const decide = (asked: PlateInput, similar = false) =>
      createAccessDecisions({ sql: watched }).decideAccess(outsider, foreign, asked, {
        at: new Date(),
        similar,
      });
    const questions: Record<string, () => Promise<unknown>> = {
      page: () => list.page(page),
      jsonPage: () => list.jsonPage([{ name: 'id', column: 'id' }], page),
      plate: () => decide({ plate }),
      'similar plate': () => decide({ plate }, true),
      reading: () => decide({ reading: { text: 'SHJB0' } }),
      feed: () =>
        createWhitelistFeed({ sql: watched, whitelist: reads, feedCursors, changesKeptDays: 1 }).cursor(
          outsider,
          foreign,
        ),
      location: () => createLocationFinder({ sql: watched }).find(outsider, foreign),
    };
    for (const [name, ask] of Object.entries(questions)) {
      found = [{ name }];
      await expect(ask()).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect(found, name).toEqual([]);
    }
    expect(await list.count()).toBe(0);
  });

  test('an API key whose scope contains 201 companies can read the locations of exactly these companies', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const [foreign = ''] = await newWhitelists();
    const companyIds = [...Array.from({ length: 200 }, () => newId()), companyId];
    const key = { unrestricted: false, companyIds, locationIds: [] } as unknown as AuthenticatedKey;
    expect(await locations.find(key, locationId)).toMatchObject({ id: locationId });
    await expect(locations.find(key, foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('hand-written SQL returns the same pages and total numbers of whitelist entries as Prisma, even when one SQL statement reads the pages of several lists', async () => {
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
      plateCode: fc.constantFrom(undefined, 'A', 'B'),
      plateNumber: fc.constantFrom(undefined, undefined, '3'),
      validAt: fc.constantFrom(undefined, new Date(0), morning, noon, evening),
      after: bound,
      before: bound,
      limit: fc.integer({ min: 1, max: 15 }),
      descending: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(question, { minLength: 1, maxLength: 5 }), async (questions) => {
        await Promise.all(
          questions.map(async (asked) => {
            const { limit, descending, after, before, locationId, validAt, ...columns } = asked;
            const filters = {
              locationId,
              ...columns,
              ...(validAt && {
                AND: [
                  { OR: [{ validFrom: null }, { validFrom: { lte: validAt } }] },
                  { OR: [{ validUntil: null }, { validUntil: { gt: validAt } }] },
                ],
              }),
            };
            const expected = await prisma.whitelistEntry.findMany({
              where: { ...filters, id: { ...(after && { gt: after }), ...(before && { lt: before }) } },
              orderBy: { id: descending ? 'desc' : 'asc' },
              take: limit,
            });
            const list = whitelist.entriesOf(operator, locationId, { ...columns, validAt });
            const page = await list.page({ limit, descending, after, before });
            expect(page).toEqual(expected.map((entry) => expect.objectContaining(entry)));
            expect(await list.count()).toBe(await prisma.whitelistEntry.count({ where: filters }));
          }),
        );
      }),
      { numRuns: 20 },
    );
  });

  test('hand-written SQL returns the same pages and the same total numbers of parking events, parking sessions and locations as Prisma', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    await gateway.newLocation(companyId);
    for (const plateNumber of ['1', '2', '3', '4']) {
      const input = `{ eventId: "${plateNumber}", kind: ${plateNumber === '3' ? 'EXIT' : 'ENTRY'}, occurredAt: "2026-03-01T08:00:00Z",
        plate: { plateType: "DXB", plateCode: "A", plateNumber: "${plateNumber}" } }`;
      const { body } = await gateway.graph(
        `mutation { recordParkingEvent(locationId: "${locationId}", input: ${input}) { id } }`,
        { key },
      );
      expect(body.errors).toBeUndefined();
    }
    const parking = createParkingReads(gateway.database);
    const lists = [
      [parking.eventsOf(operator, locationId), prismaList(prisma.parkingEvent, { locationId })],
      [
        parking.sessionsOf(operator, locationId, undefined),
        prismaList(prisma.parkingSession, { locationId }),
      ],
      [
        parking.sessionsOf(operator, locationId, true),
        prismaList(prisma.parkingSession, { locationId, open: true }),
      ],
      [
        parking.sessionsOf(operator, locationId, false),
        prismaList(prisma.parkingSession, { locationId, open: false }),
      ],
      [locations.ofCompany(operator, companyId), prismaList(prisma.location, { companyId })],
    ] satisfies [PagedList<{ id: string }>, PagedList<{ id: string }>][];
    for (const [list, expected] of lists) {
      const all = await expected.page({ limit: 100, descending: false });
      const pages: Page[] = [true, false].flatMap((descending) => [
        { limit: 100, descending },
        { limit: 1, descending },
        { limit: 100, descending, after: all[0]!.id },
        { limit: 100, descending, before: all.at(-1)!.id },
      ]);
      for (const page of pages) {
        expect(await list.page(page)).toEqual(
          (await expected.page(page)).map((row) => expect.objectContaining(row)),
        );
      }
      expect(await list.count()).toBe(all.length);
    }
  });

  test('the hand-written SQL statement of a gate decision finds the same whitelist entry for a plate as Prisma, and reports an unknown location', async () => {
    const [locationId = ''] = await newWhitelists();
    const entry = await prisma.whitelistEntry.findFirstOrThrow({ where: { locationId, validUntil: null } });
    const { plateType, plateCode, plateNumber } = entry;
    const plate = { plateType, plateCode, plateNumber };
    const now = { at: new Date(), similar: false };
    const [found, missing, unknown] = await Promise.allSettled([
      decisions.decideAccess(operator, locationId, { plate }, now),
      decisions.decideAccess(operator, locationId, { plate: { ...plate, plateCode: 'ZZ' } }, now),
      decisions.decideAccess(operator, newId(), { plate }, now),
    ]);
    expect(found).toMatchObject({ value: { reason: 'LISTED', entry } });
    expect(missing).toMatchObject({ value: { reason: 'NOT_LISTED', entry: null } });
    expect(unknown).toMatchObject({ reason: { code: 'NOT_FOUND' } });
  });

  test('SQL statements, Prisma queries and the function reachesLocation all find the same locations in the scope of an API key', async () => {
    const tenants = [await gateway.newTenant(), await gateway.newTenant()];
    await gateway.newLocation(tenants[0]!.companyId);
    const rows = await prisma.location.findMany({
      where: { companyId: { in: tenants.map((tenant) => tenant.companyId) } },
      orderBy: { id: 'asc' },
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
              locations.ofCompany(key, companyId).page({ limit: 100, descending: false }),
            ),
          );
          const scopes = rows.map(({ id }) => scopeOfLocation(key, id));
          const byChange = await prisma.$queryRawUnsafe<{ id: string }[]>(
            `SELECT l.id FROM unnest($1::text[], $2::boolean[], $3::text[]) AS q(id, "isReached", "companyIds")
             JOIN "Location" l ON l.id = q.id AND ${isInScope}`,
            rows.map(({ id }) => id),
            scopes.map(({ isReached }) => isReached),
            scopes.map(({ companyIds }) => companyIds),
          );
          const ids = (found: { id: string }[]) => found.map(({ id }) => id).sort();
          expect(ids(byChange)).toEqual([...byRow].sort());
          expect(ids(byWhere)).toEqual([...byRow].sort());
          expect(ids(byStatement.flat())).toEqual([...byRow].sort());
          const statuses = await locations.allStatuses(key);
          const among = statuses.filter(({ locationId }) => rows.some((row) => row.id === locationId));
          expect(among.map(({ locationId }) => locationId)).toEqual(byRow);
          for (const { locationId, slug, name, capacity, updatedAt } of among) {
            expect(rows.find((row) => row.id === locationId)).toMatchObject({
              slug,
              name,
              capacity,
              updatedAt,
            });
          }
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('look-ups of database rows by id', () => {
  /**
   * Creates a fake database that records the number of ids in each SQL statement. The fake database contains a row for
   * an id only if the id is an even number.
   */
  function notingSql() {
    const asked: number[] = [];
    const sql: Sql = {
      async query<Row>(_: Statement, [ids]: readonly unknown[]) {
        asked.push((ids as string[]).length);
        return (ids as string[]).filter((id) => Number(id) % 2 === 0).map((id) => ({ id })) as Row[];
      },
    };
    return { sql, asked };
  }
  const byIds = namedStatement('rows-of-this-test', 'SELECT id FROM rows WHERE id = ANY($ids::text[])');

  test('row look-ups in the same iteration of the event loop share one SQL statement, and each look-up gets its own rows', async () => {
    const { sql, asked } = notingSql();
    const rows = createRowsById<{ id: string }>(sql, byIds);
    const found = await Promise.all([rows(['4', '3', '2']), rows([]), rows(['2', '8'])]);
    expect(found.map((some) => some.map(({ id }) => id))).toEqual([['4', '2'], [], ['2', '8']]);
    expect(asked).toEqual([4]);
  });

  test('one SQL statement looks up at most 1,000 rows by their ids', async () => {
    const { sql, asked } = notingSql();
    const found = await createRowsById<{ id: string }>(
      sql,
      byIds,
    )(Array.from({ length: 2_500 }, (_, n) => `${n}`));
    expect(found).toHaveLength(1_250);
    expect(asked).toEqual([1_000, 1_000, 500]);
  });
});

describe('nested GraphQL queries', () => {
  test('the number of SQL statements for a nested GraphQL query does not grow with the number of objects in its lists', async () => {
    const companyIds = [await gateway.newCompany(), await gateway.newCompany(), await gateway.newCompany()];
    for (const companyId of companyIds) {
      for (let index = 0; index < 3; index += 1) {
        const locationId = await gateway.newLocation(companyId);
        await prisma.whitelistEntry.createMany({
          data: [newEntry(), newEntry()].map((entry) => ({ ...entry, id: newId(), locationId })),
        });
      }
    }
    const query = `{ companies(first: 10) { totalCount nodes { name locations(first: 5) { totalCount nodes {
      name status { occupied whitelistedVehicles } company { name }
      whitelist(first: 2) { totalCount nodes { plateNumber location { name company { name } } } } } } } } }`;
    const count = async (ids: string[]) => {
      const key = await gateway.newKey({ companyIds: ids });
      // When the gateway gets the first request with an API key, it runs SQL statements that look up the key. The test
      // therefore sends a request with the API key before the test counts SQL statements.
      await gateway.rest('GET', '/health', { key });
      let body: { errors?: unknown; data?: { companies: { totalCount: number } } } = {};
      const statements = await statementsOfRequest(
        async () => ({ body } = await gateway.graph(query, { key })),
      );
      expect(body.errors).toBeUndefined();
      expect(body.data?.companies.totalCount).toBe(ids.length);
      return statements.length;
    };
    const one = await count(companyIds.slice(0, 1));
    expect(await count(companyIds)).toBe(one);
    expect(one).toBeLessThanOrEqual(11);
  });

  test('when a request reads a list, makes a gate decision or changes one whitelist entry, the gateway runs only one SQL statement for it', async () => {
    const { locationId, key } = await gateway.newTenant();
    // When the gateway gets the first request with an API key, it runs SQL statements that look up the key. The test
    // therefore sends a request with the API key before the test counts SQL statements.
    await gateway.rest('GET', '/health', { key });
    const entry = newEntry();
    const plate = '{ plateType: "DXB", plateCode: "A", plateNumber: "7" }';
    const path = `/locations/${locationId}/whitelist`;
    let id = '';
    const requests: Record<string, () => Promise<unknown>> = {
      list: () => gateway.graph(`{ whitelist(locationId: "${locationId}") { nodes { id } } }`, { key }),
      'whole list with its ETag': () => gateway.rest('GET', path, { key }),
      'list of events': () =>
        gateway.graph(`{ parkingEvents(locationId: "${locationId}") { nodes { id } } }`, { key }),
      decision: () =>
        gateway.graph(`{ plateAccess(locationId: "${locationId}", plate: ${plate}) { allowed } }`, { key }),
      create: async () => ({ id } = (await gateway.rest('POST', path, { key, body: entry })).body.data),
      update: () => gateway.rest('PUT', `${path}/${id}`, { key, body: entry }),
      delete: () => gateway.rest('DELETE', `${path}/${id}`, { key }),
    };
    for (const [name, request] of Object.entries(requests)) {
      const statements = await statementsOfRequest(request);
      expect([name, statements.length]).toEqual([name, 1]);
    }
  });
});

test('only the first 500 different SQL statements of Prisma run as prepared statements with a name; all other SQL statements of Prisma run without a name', () => {
  const nameOf = createStatementNamer();
  const texts = Array.from({ length: 501 }, (_, index) => `SELECT ${index}`);
  const names = texts.map((sql) => nameOf({ sql }));
  expect(new Set(names).size).toBe(501);
  expect(names.indexOf('')).toBe(500);
  expect(texts.map((sql) => nameOf({ sql }))).toEqual(names);
});

test('the gateway counts 12,000 whitelist entries correctly; on the embedded database, it uses several SQL statements for this', async () => {
  const { locationId } = await gateway.newTenant();
  const add = `INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", "validUntil")
      SELECT gen_random_uuid()::text, $1, 'r' || i % 2, 'DXB', 'A', i::text, CASE WHEN i % 3 = 0 THEN now() END
      FROM generate_series(1, 12000) i`;
  await gateway.database.sql.query({ name: '', text: add }, [locationId]);
  const count = (filters?: WhitelistFilters) => whitelist.entriesOf(operator, locationId, filters).count();
  const tomorrow = new Date(Date.now() + 86_400_000);
  const statements = await statementsOf(async () => expect(await count()).toBe(12_000));
  const counts = statements.filter((text) => text.includes('count(') && text.includes('"WhitelistEntry" r'));
  expect(counts).toHaveLength(gateway.database.kind === 'embedded' ? 7 : 1);
  expect(await count({ validAt: tomorrow })).toBe(8_000);
  expect(await count({ referenceId: 'r0', validAt: tomorrow })).toBe(4_000);
  expect(await count({ referenceId: 'r0' })).toBe(6_000);
});
