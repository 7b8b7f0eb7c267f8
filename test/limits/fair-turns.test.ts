import { expect, onTestFinished, test, vi } from 'vitest';
import { createFairTurns } from '../../src/scheduling/fair-turns.ts';

/** Starts tasks that end when the test says so, and records the order in which they begin. */
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

test('with one slot, tasks of different names alternate', async () => {
  const { begun, run, end } = startWorks(1);
  const works = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(run);
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'];
  for (const [index, work] of order.entries()) {
    await expect.poll(() => begun).toEqual(order.slice(0, index + 1));
    end(work);
  }
  await Promise.all(works);
});

test('with two slots, tasks of different names run at the same time', async () => {
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

test('a task that fails frees its slot', async () => {
  const { turns } = startWorks(1);
  await expect(turns.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await turns.run('a', () => Promise.resolve('done'))).toBe('done');
});

test('a slow task frees its slot for other names, but not for its own', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { begun, run, end } = startWorks(1);
  const works = ['a1', 'b1', 'c1', 'a2'].map(run);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['a1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a1', 'b1']);
  // A task that freed its slot early does not free another one when it ends.
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
