import { describe, expect, test } from 'vitest';
import { createAuthenticator } from '../../src/auth/authenticator.ts';
import { hashSecret } from '../../src/auth/key-secret.ts';
import { createKeyWrites } from '../../src/auth/key-writes.ts';
import { newId } from '../../src/ids.ts';
import { createLocalPubSub } from '../../src/redis/pub-sub.ts';
import { openTestGateway } from '../support/harness.ts';
import { keyOperations } from '../support/keys.ts';

// These tests check that an administrator's API key loses its access at once, even if a request with this API key has
// already passed authentication.

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const keys = keyOperations(gateway);
const { prisma } = gateway.database;
const { environment, keyPepper: pepper } = gateway.config;
const authenticator = await createAuthenticator({
  prisma,
  pubSub: createLocalPubSub(),
  environment,
  pepper,
  operatorSecret: operator,
});
const keyWrites = createKeyWrites({
  prisma,
  authenticator,
  environment,
  hashSecret: (secret) => hashSecret(secret, pepper),
});

const permissions = ['ADMIN', 'READ_WHITELIST', 'READ_STATUS'] as const;

/**
 * Creates an administrator's key, and a second API key that the administrator may manage. `author` represents a request
 * that has already passed authentication with the administrator's key.
 */
async function newAdministrator() {
  const { companyId, locationId } = await gateway.newTenant();
  const secret = await gateway.newKey({ permissions, companyIds: [companyId] });
  const child = await gateway.newKey({ permissions: ['READ_STATUS'], companyIds: [companyId] });
  const [id, childId] = await Promise.all([keys.idOf(secret), keys.idOf(child)]);
  const author = { key: await authenticator.authenticate(secret), requestId: newId() };
  return { companyId, locationId, secret, author, id, childId };
}

type Administrator = Awaited<ReturnType<typeof newAdministrator>>;

/**
 * The ways in which an administrator's API key can lose its access. For each way, the array contains a description, the
 * expected error code of a request in progress, and a function that ends the access.
 */
const ends: [string, string, (administrator: Administrator) => Promise<unknown>][] = [
  ['is revoked', 'UNAUTHORIZED', ({ id }) => keys.revoke(operator, id)],
  ['is rotated without grace', 'UNAUTHORIZED', ({ id }) => keys.rotate(operator, id, 0)],
  [
    'loses the permission',
    'FORBIDDEN',
    ({ id }) => keys.update(operator, id, { permissions: ['READ_STATUS'] }),
  ],
];

const writes: [string, (administrator: Administrator) => Promise<unknown>][] = [
  ['gives itself its former permissions', ({ author, id }) => keyWrites.update(author, id, { permissions })],
  ['rotates itself', ({ author, id }) => keyWrites.rotate(author, id)],
  ['rotates another key', ({ author, childId }) => keyWrites.rotate(author, childId)],
  ['revokes another key', ({ author, childId }) => keyWrites.revoke(author, childId)],
  [
    'issues a key',
    ({ author, companyId }) => keyWrites.issue(author, { name: 'New', permissions, companyIds: [companyId] }),
  ],
];

describe.each(ends)('a request that has begun before the API key of its administrator %s', (_, code, end) => {
  test.each(writes)(
    'when the API key of an administrator loses access, a request in progress fails and changes nothing: the administrator %s',
    async (__, write) => {
      const administrator = await newAdministrator();
      await end(administrator);
      await expect(write(administrator)).rejects.toMatchObject({ extensions: { code } });
      expect(await prisma.auditRecord.count({ where: { apiKeyId: administrator.id } })).toBe(0);
    },
  );
});

test('when an API key loses a company during a request, this request cannot add the company to the scope of the API key again', async () => {
  const { author, id, companyId, locationId } = await newAdministrator();
  await keys.update(operator, id, { companyIds: [], locationIds: [locationId] });
  await expect(keyWrites.update(author, id, { companyIds: [companyId] })).rejects.toMatchObject({
    extensions: { code: 'FORBIDDEN' },
  });
});

test("when two administrators change each other's API keys at the same time, all changes succeed without a deadlock", async () => {
  const one = await newAdministrator();
  const secret = await gateway.newKey({ permissions, companyIds: [one.companyId] });
  const id = await keys.idOf(secret);
  const renamed = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      index % 2 === 0
        ? keys.update(secret, one.id, { name: `renamed ${index}` })
        : keys.update(one.secret, id, { name: `renamed ${index}` }),
    ),
  );
  expect(renamed.map(({ name }) => name)).toEqual(renamed.map((_, index) => `renamed ${index}`));
});
