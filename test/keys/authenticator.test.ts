import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Authenticator, createAuthenticator } from '../../src/auth/authenticator.ts';
import { hashSecret, newSecret } from '../../src/auth/key-secret.ts';
import { createLocalPubSub } from '../../src/redis/pub-sub.ts';
import { sharedTestGateway } from '../support/harness.ts';
import { statementsOf } from '../support/statements.ts';

const gateway = await sharedTestGateway();
const { environment, keyPepper: pepper } = gateway.config;

/** Creates an authenticator with empty caches over the database of the test gateway. */
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
  // The clock of the caches stands still, so that no cached key expires on a slow machine.
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

describe('the authenticator', () => {
  test('the authenticator reads an API key from the database once, and later from memory', async () => {
    const secret = await gateway.newKey();
    expect(authenticator.cachedKey(secret)).toBeUndefined();
    const { id } = await authenticator.authenticate(secret);
    expect(await statementsOf(async () => authenticator.authenticate(secret))).toEqual([]);
    expect(authenticator.cachedKey(secret)?.id).toBe(id);
  });

  test('the authenticator looks up an unknown secret once, and later refuses the secret from memory', async () => {
    const secret = invented();
    await isRefused(secret);
    expect(await statementsOf(() => isRefused(secret))).toEqual([]);
    expect(() => authenticator.cachedKey(secret)).toThrow('Invalid or missing API key');
  });

  test('the authenticator refuses a cached key as soon as the key expires', async () => {
    const secret = await gateway.newKey({ expiresAt: new Date(Date.now() + 4_500) });
    await authenticator.authenticate(secret);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 4_501);
    expect(() => authenticator.cachedKey(secret)).toThrow('Invalid or missing API key');
  });

  test('the authenticator refuses a secret with a wrong checksum without a database query', async () => {
    const mistyped = `${invented().slice(0, -6)}000000`;
    expect(await statementsOf(() => isRefused(mistyped))).toEqual([]);
    expect(() => authenticator.cachedKey(mistyped)).toThrow('Invalid or missing API key');
  });

  test('the authenticator looks up many unknown secrets in one SQL statement', async () => {
    const secrets = Array.from({ length: 100 }, invented);
    const statements = await statementsOf(() => Promise.all(secrets.map(isRefused)));
    expect(statements).toHaveLength(1);
  });

  test('the authenticator keeps valid keys in memory during a flood of unknown secrets', async () => {
    const secret = await gateway.newKey();
    await authenticator.authenticate(secret);
    await Promise.all(Array.from({ length: 10_001 }, () => isRefused(invented())));
    expect(authenticator.cachedKey(secret)).toBeDefined();
  });

  test.each([
    ['for 5 s', true, 5_000],
    ['for 500 ms while notices of other processes may be missed', false, 500],
  ])('the authenticator remembers a valid key and an unknown secret %s', async (_, connected, knownForMs) => {
    authenticator = await newAuthenticator({ ...createLocalPubSub(), connected });
    const [secret, unknown] = [await gateway.newKey(), invented()];
    await authenticator.authenticate(secret);
    await isRefused(unknown);
    const start = performance.now();
    const setClock = async (ms: number) => {
      vi.mocked(performance.now).mockReturnValue(start + ms);
      await sleep(5); // the caches read the clock once per millisecond
    };
    await setClock(knownForMs - 1);
    expect(authenticator.cachedKey(secret)).toBeDefined();
    expect(() => authenticator.cachedKey(unknown)).toThrow('Invalid or missing API key');
    await setClock(knownForMs + 1);
    expect(authenticator.cachedKey(secret)).toBeUndefined();
    expect(authenticator.cachedKey(unknown)).toBeUndefined();
  });

  test('the authenticator remembers 10,000 unknown secrets, and forgets the oldest one when another is added', async () => {
    const [oldest, ...others] = Array.from({ length: 10_001 }, invented);
    await isRefused(oldest!);
    // Looking up many secrets takes several SQL statements, which may finish in any order.
    await Promise.all(others.map(isRefused));
    expect(authenticator.cachedKey(oldest)).toBeUndefined();
    for (const secret of others) {
      expect(() => authenticator.cachedKey(secret)).toThrow('Invalid or missing API key');
    }
  });

  test('the authenticator remembers 10,000 valid keys, and forgets the oldest one when another is added', async () => {
    const { prisma } = gateway.database;
    const template = await prisma.apiKey.findFirstOrThrow();
    const secrets = Array.from({ length: 10_001 }, invented);
    const keyOf = (secret: string) => hashSecret(secret, pepper);
    await prisma.apiKey.createMany({ data: secrets.map((secret) => ({ ...template, id: keyOf(secret) })) });
    await prisma.apiKeySecret.createMany({
      data: secrets.map((secret) => {
        const hash = keyOf(secret);
        return { id: hash, apiKeyId: hash, hash, hint: '…' };
      }),
    });
    await authenticator.authenticate(secrets[0]);
    await Promise.all(secrets.map((secret) => authenticator.authenticate(secret)));
    expect(secrets.filter((secret) => !authenticator.cachedKey(secret))).toEqual([secrets[0]]);
  });

  test('the authenticator accepts a formerly unknown secret after the keys in the database changed', async () => {
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
