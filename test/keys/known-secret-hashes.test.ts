import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createKnownSecretHashes } from '../../src/auth/known-secret-hashes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the gateway remembers the hashes of 100,000 secrets, and forgets the oldest hash when another hash is added', () => {
  const knownSecretHashes = createKnownSecretHashes(async () => []);
  for (let index = 0; index <= 100_000; index += 1) knownSecretHashes.add(String(index));
  expect([knownSecretHashes.has('0'), knownSecretHashes.has('1'), knownSecretHashes.has('100000')]).toEqual([
    false,
    true,
    true,
  ]);
});

test('at most once in 5 s, the gateway reads the hashes of the newest API key secrets from the database', async () => {
  const read = vi.fn(async (_limit: number) => ['a']);
  const knownSecretHashes = createKnownSecretHashes(read);
  read.mockRejectedValueOnce(new Error('The database is unreachable'));
  for (let count = 0; count < 100; count += 1) knownSecretHashes.readSoon();
  await vi.advanceTimersByTimeAsync(4_999);
  expect(read).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(read.mock.calls).toEqual([[100_000]]);
  expect(knownSecretHashes.has('a')).toBe(false);

  await vi.advanceTimersByTimeAsync(60_000);
  expect(read).toHaveBeenCalledTimes(1);
  knownSecretHashes.readSoon();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(read).toHaveBeenCalledTimes(2);
  expect(knownSecretHashes.has('a')).toBe(true);
});
