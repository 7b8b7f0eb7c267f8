import { expect, test } from 'vitest';
import type { AuthenticatedKey } from '../../src/auth/key.ts';
import type { Sql, Statement } from '../../src/database/types.ts';
import { createFeedCursors } from '../../src/whitelist/feed/cursor.ts';
import { createWhitelistFeed, maxFeedPageSize } from '../../src/whitelist/feed/feed.ts';
import { maxWeeklyHours, weekdays } from '../../src/whitelist/hours.ts';
import { createWhitelistReads } from '../../src/whitelist/reads.ts';
import { openCommandLine } from '../support/command-line.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { pms } = openCommandLine(await serve(gateway));

const entryCount = 20_000;
const maxPoints = 4;
/**
 * The number of whitelist entries that one SQL statement inserts. Inserting all 20,000 whitelist entries with one SQL
 * statement could take too long on a busy machine.
 */
const entriesAtOnce = 10_000;

/**
 * Creates a location with 20,000 whitelist entries. Returns a function that creates API keys with a rate limit of 4
 * points.
 */
async function newWhitelist() {
  const { companyId, locationId } = await gateway.newTenant();
  for (let first = 1; first <= entryCount; first += entriesAtOnce) {
    await gateway.database.prisma.$executeRaw`
      INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
      SELECT '01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), ${locationId}, 'unit-' || n, 'DXB', 'A', n::text
      FROM generate_series(${first}::int, ${first + entriesAtOnce - 1}::int) AS n`;
  }
  const newKey = () =>
    gateway.newKey({ companyIds: [companyId], hourlyLimit: maxPoints, burstLimit: maxPoints });
  return { locationId, newKey };
}

const whitelist = newWhitelist();

test('the whitelist feed and the command pms export each read 20,000 whitelist entries for at most 4 rate limit points', async () => {
  const { locationId, newKey } = await whitelist;
  const key = await newKey();
  const ids = new Set<string>();
  let page = { cursor: undefined as string | undefined, hasMore: true };
  while (page.hasMore) {
    const { body } = await gateway.graph(
      `query ($locationId: ID!, $after: String) { whitelistChanges(locationId: $locationId, after: $after, first: 5000) {
        upserts { id referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil version }
        removals { id plateType plateCode plateNumber } cursor hasMore reset } }`,
      { key, variables: { locationId, after: page.cursor } },
    );
    expect(body.errors).toBeUndefined();
    page = body.data.whitelistChanges;
    for (const { id } of body.data.whitelistChanges.upserts) ids.add(id);
  }
  expect(ids.size).toBe(entryCount);

  const { code, out, err } = await pms(await newKey(), 'export', '--location', locationId);
  expect({ code, err }).toEqual({ code: 0, err: '' }); // stderr is empty, because pms did not wait for the rate limit
  expect(out.trimEnd().split('\n')).toHaveLength(entryCount + 1);
});

test('a query for new whitelist changes reads fewer than 20 database blocks, even when a whitelist has 20,000 older changes', async () => {
  const { locationId } = await whitelist;
  const { sql } = gateway.database;
  const asked: { statement: Statement; values: unknown[] }[] = [];
  const watched: Sql = {
    query(statement, values) {
      asked.push({ statement, values: [...values] });
      return sql.query(statement, values);
    },
  };
  const feedCursors = createFeedCursors('pepper');
  const feed = createWhitelistFeed({
    sql: watched,
    whitelist: createWhitelistReads({ sql, kind: gateway.database.kind, feedCursors }),
    feedCursors,
    changesKeptDays: 30,
  });
  // A new feed position is never after the oldest transaction that is still running on the PostgreSQL server. The
  // oldest running transaction of the PostgreSQL server can belong to another test, in another database.
  const changesBeforeOldest = () =>
    sql.query(
      {
        name: '',
        text: `SELECT bool_and("changedIn" < pg_snapshot_xmin(pg_current_snapshot())) AS "areAll"
          FROM "WhitelistChange" WHERE "locationId" = $1`,
      },
      [locationId],
    );
  await expect.poll(changesBeforeOldest).toEqual([{ areAll: true }]);
  const key = { unrestricted: true } as AuthenticatedKey;
  const page = await feed.changes(key, locationId, await feed.cursor(key, locationId), 1000);
  expect(page).toMatchObject({ upserts: [], removals: [], hasMore: false });
  const { statement, values } = asked.at(-1)!;
  await sql.query({ name: '', text: 'ANALYZE "WhitelistChange"' }, []);
  const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
    { name: '', text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}` },
    values,
  );
  const { Plan: plan } = row!['QUERY PLAN'][0];
  expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(20);
});

test('when whitelist entries have many weekly hours, a page of the whitelist feed has fewer entries, so that the response is not too large', async () => {
  const { locationId, key } = await gateway.newTenant();
  const hours = Array.from({ length: maxWeeklyHours }, () => ({
    days: weekdays,
    from: '07:00',
    to: '19:00',
  }));
  await gateway.database.prisma.$executeRaw`
    INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", hours)
    SELECT '01900000-0001-7000-8000-' || lpad(to_hex(n), 12, '0'), ${locationId}, 'unit', 'DXB', 'A', n::text,
      ${JSON.stringify(hours)}::jsonb
    FROM generate_series(1, ${maxFeedPageSize}::int) AS n`;
  const readPage = async (after?: string) => {
    const { body } = await gateway.graph(
      `query ($locationId: ID!, $after: String, $first: Int) {
        whitelistChanges(locationId: $locationId, after: $after, first: $first) {
          upserts { plateNumber hours { days from to } } cursor hasMore } }`,
      { key, variables: { locationId, after, first: maxFeedPageSize } },
    );
    expect(body.errors).toBeUndefined();
    return body.data.whitelistChanges;
  };
  const first = await readPage();
  const second = await readPage(first.cursor);
  expect([first.hasMore, second.hasMore]).toEqual([true, true]);
  const upserts = [...first.upserts, ...second.upserts];
  expect(upserts).toEqual(upserts.map((_, index) => ({ plateNumber: String(index + 1), hours })));
});
