import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Authenticator, createAuthenticator } from '../src/auth/authenticator.ts';
import { hashSecret, newSecret } from '../src/auth/key-secret.ts';
import { createLocalPubSub } from '../src/redis/pub-sub.ts';
import { openTestGateway } from './support/harness.ts';
import { statementsOf } from './support/statements.ts';

const gateway = await openTestGateway();
const { environment, keyPepper: pepper } = gateway.config;

/** An authenticator with empty caches over the database of the test gateway. */
const newAuthenticator = () =>
  createAuthenticator({
    prisma: gateway.database.prisma,
    pubSub: createLocalPubSub(),
    environment,
    pepper,
    operatorSecret: undefined,
  });

let authenticator: Authenticator;
beforeEach(async () => {
  authenticator = await newAuthenticator();
  // The clock of the caches stands still, so that no entry gets too old on a slow machine.
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
  test('asks the database once for a key, and knows it afterwards', async () => {
    const secret = await gateway.newKey();
    expect(authenticator.cachedKey(secret)).toBeUndefined();
    const { id } = await authenticator.authenticate(secret);
    expect(await statementsOf(async () => authenticator.authenticate(secret))).toEqual([]);
    expect(authenticator.cachedKey(secret)?.id).toBe(id);
  });

  test('asks the database once for an unknown secret, and refuses it from memory afterwards', async () => {
    const secret = invented();
    await isRefused(secret);
    expect(await statementsOf(() => isRefused(secret))).toEqual([]);
    expect(() => authenticator.cachedKey(secret)).toThrow('Invalid or missing API key');
  });

  test('refuses a secret with a wrong checksum without the database', async () => {
    const mistyped = `${invented().slice(0, -6)}000000`;
    expect(await statementsOf(() => isRefused(mistyped))).toEqual([]);
    expect(() => authenticator.cachedKey(mistyped)).toThrow('Invalid or missing API key');
  });

  test('looks many invented secrets up in one statement', async () => {
    const secrets = Array.from({ length: 100 }, invented);
    const statements = await statementsOf(() => Promise.all(secrets.map(isRefused)));
    expect(statements).toHaveLength(1);
  });

  test('remembers its valid keys however many invented secrets come', async () => {
    const secret = await gateway.newKey();
    await authenticator.authenticate(secret);
    await Promise.all(Array.from({ length: 10_001 }, () => isRefused(invented())));
    expect(authenticator.cachedKey(secret)).toBeDefined();
  });

  test('finds a secret that was unknown until the keys changed', async () => {
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
