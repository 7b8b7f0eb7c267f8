import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Authenticator, createAuthenticator } from '../../src/auth/authenticator.ts';
import { hashSecret, newSecret } from '../../src/auth/key-secret.ts';
import { createLocalPubSub } from '../../src/redis/pub-sub.ts';
import { sharedTestGateway } from '../support/harness.ts';
import { statementsOf } from '../support/statements.ts';

const gateway = await sharedTestGateway();
const { environment, keyPepper: pepper } = gateway.config;

/** Creates an authenticator that has empty caches, and that uses the database of the test gateway. */
const newAuthenticator = (pubSub = createLocalPubSub()) =>
  createAuthenticator({
    prisma: gateway.database.prisma,
    pubSub,
    environment,
    pepper,
    operatorSecret: undefined,
  });

let authenticator: Authenticator;
beforeEach(async () => {
  authenticator = await newAuthenticator();
  // The test stops the clock of the authenticator's caches, so that no cached API key expires on a slow machine.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
});
afterEach(() => {
  vi.restoreAllMocks();
});

const invented = () => newSecret(environment);
const isRefused = async (secret: string) => {
  await expect((async () => authenticator.authenticate(secret))()).rejects.toMatchObject({
    code: 'UNAUTHORIZED',
  });
};

describe('the authenticator of API keys', () => {
  test('the authenticator reads an API key from the database once, and later from memory', async () => {
    const secret = await gateway.newKey();
    expect(authenticator.cachedKey(secret)).toBeUndefined();
    const { id } = await authenticator.authenticate(secret);
    expect(await statementsOf(async () => authenticator.authenticate(secret))).toEqual([]);
    expect(authenticator.cachedKey(secret)?.id).toBe(id);
  });

  test('the authenticator looks up an unknown secret in the database once, and later refuses the secret without a query', async () => {
    const secret = invented();
    await isRefused(secret);
    expect(await statementsOf(() => isRefused(secret))).toEqual([]);
    expect(() => authenticator.cachedKey(secret)).toThrow('Invalid or missing API key');
  });

  test('when API keys change during the look-up of a secret, the authenticator remembers only the hash of the secret, and does not cache the API key', async () => {
    const secret = await gateway.newKey();
    const lookUp = authenticator.authenticate(secret);
    await authenticator.keysChanged();
    await lookUp;
    expect(authenticator.cachedKey(secret)).toBeUndefined();
    expect(authenticator.knownSecretHashes.has(secret)).toBe(true);
  });

  test('the authenticator refuses a cached API key as soon as the API key expires', async () => {
    const secret = await gateway.newKey({ expiresAt: new Date(Date.now() + 4_500) });
    await authenticator.authenticate(secret);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 4_501);
    expect(() => authenticator.cachedKey(secret)).toThrow('Invalid or missing API key');
  });

  test('when a secret has a wrong checksum, the authenticator refuses the secret without a database query', async () => {
    const mistyped = `${invented().slice(0, -6)}000000`;
    expect(await statementsOf(() => isRefused(mistyped))).toEqual([]);
    expect(() => authenticator.cachedKey(mistyped)).toThrow('Invalid or missing API key');
  });

  test('the authenticator looks up many unknown secrets in one SQL statement', async () => {
    const secrets = Array.from({ length: 100 }, invented);
    const statements = await statementsOf(() => Promise.all(secrets.map(isRefused)));
    expect(statements).toHaveLength(1);
  });

  test('the authenticator keeps valid API keys in memory during a flood of unknown secrets', async () => {
    const secret = await gateway.newKey();
    await authenticator.authenticate(secret);
    await Promise.all(Array.from({ length: 10_001 }, () => isRefused(invented())));
    expect(authenticator.cachedKey(secret)).toBeDefined();
  });

  test.each([
    ['5 s', true, 5_000],
    ['500 ms while notices of other processes may be missed', false, 500],
  ])(
    'the authenticator remembers API keys and unknown secrets only for a limited time: %s',
    async (_, connected, knownForMs) => {
      authenticator = await newAuthenticator({ ...createLocalPubSub(), connected });
      const [secret, unknown] = [await gateway.newKey(), invented()];
      await authenticator.authenticate(secret);
      await isRefused(unknown);
      const start = performance.now();
      const setClock = async (ms: number) => {
        vi.mocked(performance.now).mockReturnValue(start + ms);
        await sleep(5); // wait, because the caches of the authenticator read the clock at most once per millisecond
      };
      await setClock(knownForMs - 1);
      expect(authenticator.cachedKey(secret)).toBeDefined();
      expect(() => authenticator.cachedKey(unknown)).toThrow('Invalid or missing API key');
      await setClock(knownForMs + 1);
      expect(authenticator.cachedKey(secret)).toBeUndefined();
      expect(authenticator.cachedKey(unknown)).toBeUndefined();
    },
  );

  test('the authenticator remembers 10,000 unknown secrets, and forgets the oldest secret when another secret is added', async () => {
    const [oldest, ...others] = Array.from({ length: 10_001 }, invented);
    await isRefused(oldest!);
    // The authenticator looks up many secrets with several SQL statements, which can finish in any order.
    await Promise.all(others.map(isRefused));
    expect(authenticator.cachedKey(oldest)).toBeUndefined();
    for (const secret of others) {
      expect(() => authenticator.cachedKey(secret)).toThrow('Invalid or missing API key');
    }
  });

  test('the authenticator remembers 10,000 valid API keys, and forgets the oldest API key when another API key is added', async () => {
    const { prisma } = gateway.database;
    const template = await prisma.apiKey.findFirstOrThrow();
    const secrets = Array.from({ length: 10_001 }, invented);
    const hashes = secrets.map((secret) => hashSecret(secret, pepper));
    await prisma.$executeRaw`
      INSERT INTO "ApiKey"
      SELECT (jsonb_populate_record(template, jsonb_build_object('id', hash))).*
        FROM "ApiKey" template, unnest(${hashes}::text[]) hash WHERE template."id" = ${template.id}`;
    await prisma.$executeRaw`
      INSERT INTO "ApiKeySecret" ("id", "apiKeyId", "hash", "hint")
      SELECT hash, hash, hash, '…' FROM unnest(${hashes}::text[]) hash`;
    await authenticator.authenticate(secrets[0]);
    await Promise.all(secrets.map((secret) => authenticator.authenticate(secret)));
    expect(secrets.filter((secret) => !authenticator.cachedKey(secret))).toEqual([secrets[0]]);
  });

  test('the authenticator checks a refused secret again after a notice that API keys have changed', async () => {
    const secret = invented();
    await isRefused(secret);
    const { id } = await gateway.database.prisma.apiKey.findFirstOrThrow({
      where: { secrets: { some: {} } },
    });
    await gateway.database.prisma.apiKeySecret.create({
      data: { id: `secret-${id}`, apiKeyId: id, hash: hashSecret(secret, pepper), hint: '…' },
    });
    await isRefused(secret);
    await authenticator.keysChanged();
    expect((await authenticator.authenticate(secret)).id).toBe(id);
  });
});
