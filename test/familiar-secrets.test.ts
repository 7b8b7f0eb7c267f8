import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFamiliarSecrets } from '../src/auth/familiar-secrets.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('100,000 secrets are familiar: of more the oldest is not', () => {
  const familiar = createFamiliarSecrets(async () => []);
  for (let index = 0; index <= 100_000; index += 1) familiar.add(String(index));
  expect([familiar.has('0'), familiar.has('1'), familiar.has('100000')]).toEqual([false, true, true]);
});

test('the newest secrets are read once in 5 s, however often somebody asks, and again after a failure', async () => {
  const read = vi.fn(async (_limit: number) => ['a']);
  const familiar = createFamiliarSecrets(read);
  read.mockRejectedValueOnce(new Error('The database is away'));
  for (let count = 0; count < 100; count += 1) familiar.readSoon();
  await vi.advanceTimersByTimeAsync(4_999);
  expect(read).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(read.mock.calls).toEqual([[100_000]]);
  expect(familiar.has('a')).toBe(false);

  await vi.advanceTimersByTimeAsync(60_000);
  expect(read).toHaveBeenCalledTimes(1);
  familiar.readSoon();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(read).toHaveBeenCalledTimes(2);
  expect(familiar.has('a')).toBe(true);
});
