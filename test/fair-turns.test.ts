import { expect, onTestFinished, test, vi } from 'vitest';
import { createFairTurns } from '../src/fair-turns.ts';

/** Works that end when the test says so, and the order in which they begin. */
function startWorks(maxAtOnce: number) {
  const turns = createFairTurns(maxAtOnce);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (work: string) =>
    turns.run(
      work[0]!,
      () =>
        new Promise<void>((resolve) => {
          begun.push(work);
          ends.set(work, resolve);
        }),
    );
  return { turns, begun, run, end: (work: string) => ends.get(work)!() };
}

test('one work at a time: names take turns', async () => {
  const { begun, run, end } = startWorks(1);
  const works = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(run);
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'];
  for (const [index, work] of order.entries()) {
    await expect.poll(() => begun).toEqual(order.slice(0, index + 1));
    end(work);
  }
  await Promise.all(works);
});

test('several at a time: one of each name', async () => {
  const { begun, run, end } = startWorks(2);
  const works = ['a1', 'a2', 'b1', 'c1'].map(run);
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'a2']);
  for (const work of ['b1', 'a2']) end(work);
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'a2', 'c1']);
  end('c1');
  await Promise.all(works);
});

test('a work that fails gives its turn on', async () => {
  const { turns } = startWorks(1);
  await expect(turns.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await turns.run('a', () => Promise.resolve('done'))).toBe('done');
});

test('a work that takes long gives its turn to other names, and keeps it from its own', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { begun, run, end } = startWorks(1);
  const works = ['a1', 'b1', 'c1', 'a2'].map(run);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['a1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a1', 'b1']);
  // What has given its turn on gives no other away when it ends.
  end('a1');
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['a1', 'b1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  end('b1');
  end('c1');
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']));
  end('a2');
  await Promise.all(works);
});
