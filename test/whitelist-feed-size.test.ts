import { expect, test } from 'vitest';
import { openCommandLine } from './support/command-line.ts';
import { openTestGateway, serve } from './support/harness.ts';

const gateway = await openTestGateway();
const { pms } = openCommandLine(await serve(gateway));

const entryCount = 100_000;
const maxPoints = 20;

/** A location with so many entries, and a key that may spend so many points an hour. */
async function newWhitelist() {
  const { companyId, locationId } = await gateway.newTenant();
  await gateway.database.prisma.$executeRaw`
    INSERT INTO "WhitelistEntry" (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber")
    SELECT '01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), ${locationId}, 'unit-' || n, 'DXB', 'A', n::text
    FROM generate_series(1, ${entryCount}::int) AS n`;
  const newKey = () =>
    gateway.newKey({ companyIds: [companyId], hourlyLimit: maxPoints, burstLimit: maxPoints });
  return { locationId, newKey };
}

test('100,000 entries cost at most 20 points by the feed, and by an export of the command line', async () => {
  const { locationId, newKey } = await newWhitelist();
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
  expect({ code, err }).toEqual({ code: 0, err: '' }); // it would say that it waits for the rate limit
  expect(out.trimEnd().split('\n')).toHaveLength(entryCount + 1);
});
