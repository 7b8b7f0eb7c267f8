import { expect, test } from 'vitest';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';

/**
 * The number of identical requests after which PostgreSQL has stored a query plan for each SQL statement of the
 * request. PostgreSQL makes a new query plan for each of the first five executions of a prepared statement.
 */
const runsUntilStored = 8;
/**
 * The number of requests that the test sends after the first `runsUntilStored` requests. During these `measuredRuns`
 * requests, the test counts the query plans that PostgreSQL makes.
 */
const measuredRuns = 5;

test.runIf(!testServerUrl)(
  'on the embedded database, PostgreSQL reuses its query plans when requests for whitelist entries, location statuses or gate decisions are repeated',
  async () => {
    const gateway = await openTestGateway();
    const { locationId, key } = await gateway.newTenant();
    const entry = newEntry();
    const { plateType, plateCode, plateNumber } = entry;
    const plate = { plateType, plateCode, plateNumber };
    const path = `/locations/${locationId}`;
    const access = `query ($id: ID!, $plate: PlateInput!) { plateAccess(locationId: $id, plate: $plate) { allowed } }`;
    const requests: Record<string, () => Promise<{ status: number; body: unknown }>> = {
      create: () => gateway.rest('POST', `${path}/whitelist`, { key, body: newEntry() }),
      list: () => gateway.rest('GET', `${path}/whitelist?limit=10`, { key }),
      wholeList: () => gateway.rest('GET', `${path}/whitelist`, { key }),
      status: () => gateway.rest('GET', `${path}/status`, { key }),
      access: () => gateway.graph(access, { key, variables: { id: locationId, plate } }),
    };
    await gateway.rest('POST', `${path}/whitelist`, { key, body: entry });

    const plansSoFar = async () => {
      const rows = await gateway.database.prisma.$queryRaw<{ statement: string; plans: number }[]>`
        SELECT statement, custom_plans::int AS plans FROM pg_prepared_statements`;
      return new Map(rows.map(({ statement, plans }) => [statement, plans]));
    };
    const planned: Record<string, string[]> = {};
    for (const [name, send] of Object.entries(requests)) {
      const repeat = async (times: number) => {
        for (let run = 0; run < times; run += 1) {
          const { status, body } = await send();
          expect({ status, body }).toMatchObject({ status: expect.toBeOneOf([200, 201]) });
          expect(body).not.toHaveProperty('errors');
        }
      };
      await repeat(runsUntilStored);
      const before = await plansSoFar();
      await repeat(measuredRuns);
      planned[name] = [...(await plansSoFar())]
        .filter(([statement, plans]) => plans - (before.get(statement) ?? 0) >= measuredRuns)
        .map(([statement]) => statement.trim().slice(0, 200));
    }
    expect(planned).toEqual(Object.fromEntries(Object.keys(requests).map((name) => [name, []])));
  },
);
