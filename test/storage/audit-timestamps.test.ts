import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { newEntry, newSlug, sharedTestGateway, type TestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

type Tenant = Awaited<ReturnType<TestGateway['newTenant']>>;

/** The format of all timestamps in the responses of the API. */
const apiInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Returns all timestamps in a JSON value, each with its path in the JSON value. */
function instantsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return /(At|From|Until)$/.test(path) ? [[path, value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => instantsOf(item, path ? `${path}.${key}` : key));
}

const entry = () =>
  newEntry({ validFrom: '2026-01-31T12:00:00+04:00', validUntil: '2027-01-31T08:00:00.5Z' });
const eventDocument = `mutation ($locationId: ID!, $input: ParkingEventInput!) {
  recordParkingEvent(locationId: $locationId, input: $input) { id } }`;

async function create({ key, locationId }: Tenant): Promise<string> {
  const { body } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry() });
  return body.data.id;
}

const record = ({ key, locationId }: Tenant, eventId: string, occurredAt: string) =>
  gateway.graph(eventDocument, {
    key,
    variables: {
      locationId,
      input: {
        eventId,
        occurredAt,
        kind: 'ENTRY',
        plate: { plateType: 'DXB', plateCode: 'A', plateNumber: '7' },
      },
    },
  });

/**
 * Functions that change data. Each row contains an audit action, the function that causes the audit record, and paths
 * to timestamps in the audit record, such as `before.updatedAt`.
 */
const changes: [string, (tenant: Tenant) => Promise<unknown>, string[]][] = [
  ['whitelist.created', create, ['validFrom', 'validUntil', 'createdAt', 'updatedAt']],
  [
    'whitelist.updated',
    async (tenant) => {
      const path = `/locations/${tenant.locationId}/whitelist/${await create(tenant)}`;
      await gateway.rest('PUT', path, { key: tenant.key, body: entry() });
    },
    ['before.validFrom', 'after.validUntil', 'before.updatedAt', 'after.updatedAt'],
  ],
  [
    'whitelist.deleted',
    async (tenant) => {
      const path = `/locations/${tenant.locationId}/whitelist/${await create(tenant)}`;
      await gateway.rest('DELETE', path, { key: tenant.key });
    },
    ['validFrom', 'validUntil', 'createdAt', 'updatedAt'],
  ],
  [
    'location.updated',
    ({ key, locationId }) =>
      gateway.rest('PUT', `/locations/${locationId}`, { key, body: { description: 'changed' } }),
    ['before.createdAt', 'before.updatedAt', 'after.createdAt', 'after.updatedAt'],
  ],
  [
    'location.created',
    ({ key }) => gateway.rest('POST', '/locations', { key, body: { name: 'New', slug: newSlug() } }),
    ['createdAt', 'updatedAt'],
  ],
  [
    'parking.entered',
    (tenant) => record(tenant, newId(), '2026-03-01T12:00:00+04:00'),
    ['occurredAt', 'createdAt', 'updatedAt'],
  ],
  [
    'parking.entered',
    async (tenant) => {
      const eventId = newId();
      await record(tenant, eventId, '2026-03-01T12:00:00+04:00');
      await record(tenant, eventId, '2026-03-01T13:00:00+04:00');
    },
    ['before.occurredAt', 'after.occurredAt'],
  ],
  [
    'company.registered',
    ({ key }) =>
      gateway.rest('POST', '/register/company', {
        key,
        body: { name: 'New', slug: newSlug(), address: 'Dubai' },
      }),
    ['createdAt', 'updatedAt'],
  ],
];

describe('times in audit records', () => {
  test.each(changes)(
    'the audit record of the action %s contains timestamps in the same format as the API',
    async (action, change, paths) => {
      const tenant = await gateway.newTenant();
      await change(tenant);
      const [apiKey] = await gateway.database.prisma.apiKey.findMany({
        where: { companies: { some: { id: tenant.companyId } } },
      });
      const last = await gateway.database.prisma.auditRecord.findFirstOrThrow({
        where: { apiKeyId: apiKey!.id },
        orderBy: { id: 'desc' },
      });
      expect(last.action).toBe(action);
      const instants = instantsOf(last.changes);
      expect(instants.map(([path]) => path)).toEqual(expect.arrayContaining(paths));
      for (const [path, instant] of instants)
        expect([path, instant]).toEqual([path, expect.stringMatching(apiInstant)]);
    },
  );

  test('the audit record of a new whitelist entry contains the same timestamps as the API response', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { body } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry() });
    const { changes: recorded } = await gateway.database.prisma.auditRecord.findFirstOrThrow({
      where: { locationId, action: 'whitelist.created' },
    });
    const { id, validFrom, validUntil, createdAt, updatedAt } = body.data;
    expect(recorded).toMatchObject({ id, validFrom, validUntil, createdAt, updatedAt });
    expect(validUntil).toBe('2027-01-31T08:00:00.500Z');
  });

  test('when a whitelist entry has no start or end of validity, its audit record contains null for this timestamp', async () => {
    const { key, locationId } = await gateway.newTenant();
    const body = newEntry({ note: null, validUntil: null });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    const { changes: recorded } = await gateway.database.prisma.auditRecord.findFirstOrThrow({
      where: { locationId },
    });
    expect(recorded).toMatchObject({ note: null, validFrom: null, validUntil: null });
  });
});
