import { expect, test } from 'vitest';
import { newEntry, newSlug, openTestGateway } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const keys = keyOperations(gateway);
const { prisma } = gateway.database;

const document = `mutation ($locationId: ID!, $companyId: ID!, $rows: [WhitelistEntryInput!]!, $entry: WhitelistEntryInput!, $location: CreateLocationInput!) {
  importWhitelistEntries(locationId: $locationId, entries: $rows) { created }
  createWhitelistEntry(locationId: $locationId, input: $entry) { id }
  createLocation(input: $location) { id }
  updateCompany(id: $companyId, input: { name: "Late" }) { name } }`;

test('when an API key is revoked while the first field of a mutation runs, the later fields change nothing', async () => {
  const { companyId, locationId } = await gateway.newTenant();
  const { secret, apiKey } = await keys.create(operator, {
    permissions: ['READ_WHITELIST', 'WRITE_WHITELIST', 'WRITE_LOCATIONS', 'WRITE_COMPANIES'],
    companyIds: [companyId],
    hourlyLimit: 100_000,
    burstLimit: 100_000,
  });
  const variables = {
    locationId,
    companyId,
    rows: Array.from({ length: 10_000 }, (_, index) => newEntry({ plateNumber: String(index) })),
    entry: newEntry({ plateCode: 'B' }),
    location: { companyId, name: 'Late', slug: newSlug() },
  };
  const answered = gateway.graph(document, { key: secret, variables });
  await expect
    .poll(() => prisma.whitelistEntry.count({ where: { locationId } }), { interval: 5 })
    .not.toBe(0);
  await keys.revoke(operator, apiKey.id);
  const { body } = await answered;
  expect(body.data).toMatchObject({ createWhitelistEntry: null, createLocation: null, updateCompany: null });
  expect(body.errors.at(-1)).toMatchObject({ path: ['updateCompany'], extensions: { code: 'UNAUTHORIZED' } });
  expect(await prisma.whitelistEntry.count({ where: { locationId, plateCode: 'B' } })).toBe(0);
});
