import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuthenticatedKey } from '../../src/auth/key.ts';
import { newId } from '../../src/ids.ts';
import { createFeedCursors } from '../../src/whitelist/feed/cursor.ts';
import { createWhitelistReads, type WhitelistFilters } from '../../src/whitelist/reads.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';

// The test file has its own gateway, because the rows of other tests could change the query plans.
const gateway = await openTestGateway();
const { prisma } = gateway.database;

/**
 * Returns the plate numbers in a whitelist with the given filters, or the `extensions` of the error. Expects that the
 * GraphQL fields `whitelist` and `location.whitelist` return the same result.
 */
async function plateNumbers(key: string, locationId: string, filters: Record<string, unknown>) {
  const { body } = await gateway.graph(
    `query ($id: ID!, $referenceId: String, $plateType: String, $plateCode: String, $plateNumber: String, $validAt: DateTime) {
      whitelist(locationId: $id, referenceId: $referenceId, plateType: $plateType, plateCode: $plateCode,
        plateNumber: $plateNumber, validAt: $validAt) { totalCount nodes { plateNumber } }
      location(id: $id) {
        whitelist(referenceId: $referenceId, plateType: $plateType, plateCode: $plateCode,
          plateNumber: $plateNumber, validAt: $validAt) { totalCount nodes { plateNumber } } } }`,
    { key, variables: { id: locationId, ...filters } },
  );
  if (body.errors) return body.errors[0].extensions;
  expect(body.data.location.whitelist).toEqual(body.data.whitelist);
  expect(body.data.whitelist.totalCount).toBe(body.data.whitelist.nodes.length);
  return body.data.whitelist.nodes.map((node: { plateNumber: string }) => node.plateNumber);
}

describe('filters for the entries of a whitelist', () => {
  test('clients can filter a whitelist by parts of the plate, and by a time at which the entries are valid', async () => {
    const { key, locationId } = await gateway.newTenant();
    const times = { validFrom: '2026-03-01T08:00:00Z', validUntil: '2026-03-01T10:00:00Z' };
    const entries = [
      { plateCode: 'A', plateNumber: '1' },
      { plateCode: 'a', plateNumber: '2' },
      { plateCode: 'A', plateNumber: '3', ...times },
    ];
    for (const entry of entries) {
      const { status } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
        key,
        body: newEntry(entry),
      });
      expect(status).toBe(201);
    }
    const shown = (filters: Record<string, unknown>) => plateNumbers(key, locationId, filters);
    expect(await shown({ plateCode: 'A' })).toEqual(['1', '3']);
    expect(await shown({ plateCode: 'A', plateNumber: '3' })).toEqual(['3']);
    expect(await shown({ plateNumber: '03' })).toEqual([]);
    expect(await shown({ plateCode: '', plateNumber: null })).toEqual(['1', '2', '3']);
    expect(await shown({ validAt: '2026-03-01T12:00:00+04:00' })).toEqual(['1', '2', '3']);
    expect(await shown({ validAt: '2026-03-01T07:59:59.999Z' })).toEqual(['1', '2']);
    expect(await shown({ plateCode: 'A', validAt: '2026-03-01T10:00:00Z' })).toEqual(['1']);
  });

  test('whitelist filters refuse invalid texts and times', async () => {
    const { key, locationId } = await gateway.newTenant();
    for (const [field, value] of [
      ['plateCode', 'A\u0000'],
      ['plateNumber', '1'.repeat(501)],
      ['validAt', 'yesterday'],
      ['validAt', '1969-12-31T23:59:59Z'],
    ] as const) {
      expect(await plateNumbers(key, locationId, { [field]: value })).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field },
      });
    }
  });
});

describe.runIf(testServerUrl)('whitelist filters on PostgreSQL with 20,000 entries', () => {
  const client = new pg.Client({ connectionString: gateway.config.databaseUrl });
  const operator = { unrestricted: true, companyIds: [], locationIds: [] } as unknown as AuthenticatedKey;
  let locationIds: string[];

  beforeAll(async () => {
    await client.connect();
    const companyId = await gateway.newCompany();
    locationIds = await Promise.all(Array.from({ length: 40 }, () => gateway.newLocation(companyId)));
    await prisma.$executeRaw`
      INSERT INTO "WhitelistEntry"
        (id, "locationId", "referenceId", "plateType", "plateCode", "plateNumber", "validUntil")
      SELECT gen_random_uuid(), (${locationIds}::text[])[n % 40 + 1], 'unit-' || n % 2003,
        ('{DXB,SHJ,AUH}'::text[])[(n >> 6) % 3 + 1], ('{A,B,White,50}'::text[])[(n >> 8) % 4 + 1], n,
        CASE WHEN (n >> 10) % 5 = 0 THEN now() END
      FROM generate_series(0, 19999) AS n`;
    await client.query('ANALYZE');
  });
  afterAll(() => client.end());

  /**
   * Calls a function, and returns the query plans of its SQL statements. PostgreSQL only plans these SQL statements
   * (`EXPLAIN`), and does not run them.
   */
  async function plansOf(work: (whitelist: ReturnType<typeof createWhitelistReads>) => Promise<unknown>) {
    const plans: string[] = [];
    const sql = {
      async query<Row>({ text }: { text: string }, values: readonly unknown[]): Promise<Row[]> {
        const { rows } = await client.query({ text: `EXPLAIN ${text}`, values: [...values] });
        plans.push(rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n'));
        return [];
      },
    };
    await work(
      createWhitelistReads({ sql, kind: 'postgresql', feedCursors: createFeedCursors('pepper') }),
    ).catch(() => {}); // The fake database returns no rows, so the gateway finds no location and throws an error.
    return plans;
  }

  const filters = {
    referenceId: 'unit-7',
    plateType: 'DXB',
    plateCode: 'A',
    plateNumber: '7',
    validAt: new Date(),
  } satisfies Required<WhitelistFilters>;
  const combinations = Object.entries(filters).reduce<WhitelistFilters[]>(
    (chosen, [name, value]) => [...chosen, ...chosen.map((some) => ({ ...some, [name]: value }))],
    [{}],
  );

  test.each(combinations.map((chosen) => [Object.keys(chosen).join(', ') || 'nothing', chosen] as const))(
    'the SQL queries for the entries of a filtered whitelist and for their number use an index (filters: %s)',
    async (_, chosen) => {
      const [locationId] = locationIds;
      for (const descending of [false, true]) {
        const plans = await plansOf((whitelist) =>
          whitelist.entriesOf(operator, locationId!, chosen).page({ limit: 100, descending, after: newId() }),
        );
        expect(plans).toEqual([
          expect.stringMatching(/Index (Only )?Scan.* on "?(WhitelistEntry|whitelist_entry)/),
        ]);
        expect(plans[0]).not.toContain('Seq Scan on "WhitelistEntry"');
      }
      const counts = await plansOf((whitelist) => whitelist.entriesOf(operator, locationId!, chosen).count());
      expect(counts).toHaveLength(1);
      expect(counts[0]).not.toContain('Seq Scan on "WhitelistEntry"');
    },
  );
});
