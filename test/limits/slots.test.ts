import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SlotLimits } from '../../src/scheduling/limits.ts';
import { createSlots } from '../../src/scheduling/slots.ts';

const described = { task: 'tests', owner: 'key', reason: '' } as const;

/** Limits like the limits of the gateway for tasks that use the processor. */
const shortLimits = {
  ...described,
  runningPerOwner: 1,
  holdMs: 2_000,
  yields: true,
} satisfies Partial<SlotLimits>;

/** Limits like the limits of the gateway for tasks that use the database. */
const ownerLimits = {
  ...described,
  runningPerOwner: 1,
  running: Infinity,
  holdMs: Infinity,
  yields: false,
} satisfies SlotLimits;

/** Starts tasks that end when the test ends them, and records the order in which the tasks begin. */
function startTasks(running: number) {
  const slots = createSlots({ ...shortLimits, running });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (task: string) =>
    slots.run(
      task[0]!,
      () =>
        new Promise<void>((resolve) => {
          begun.push(task);
          ends.set(task, resolve);
        }),
    );
  return { slots, begun, run, end: (task: string) => ends.get(task)!() };
}

test('when only one task may run, tasks of different owners run alternately', async () => {
  const { begun, run, end } = startTasks(1);
  const tasks = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(run);
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'];
  for (const [index, task] of order.entries()) {
    await expect.poll(() => begun).toEqual(order.slice(0, index + 1));
    end(task);
  }
  await Promise.all(tasks);
});

test('when two tasks may run, tasks of two different owners run at the same time', async () => {
  const { begun, run, end } = startTasks(2);
  const tasks = ['a1', 'a2', 'b1', 'c1'].map(run);
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'a2']);
  for (const task of ['b1', 'a2']) end(task);
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'a2', 'c1']);
  end('c1');
  await Promise.all(tasks);
});

test('a failed task frees its slot, so that the next waiting task starts', async () => {
  const { slots } = startTasks(1);
  await expect(slots.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await slots.run('a', () => Promise.resolve('done'))).toBe('done');
});

test('a slow task frees its slot for tasks of other owners, but not for tasks of the same owner', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { begun, run, end } = startTasks(1);
  const tasks = ['a1', 'b1', 'c1', 'a2'].map(run);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['a1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a1', 'b1']);
  // A task that freed its slot early does not free a second slot when the task ends.
  end('a1');
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['a1', 'b1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  end('b1');
  end('c1');
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']));
  end('a2');
  await Promise.all(tasks);
});

test("a task that waited for a slot runs in its caller's asynchronous context, and therefore in its trace", async () => {
  const request = new AsyncLocalStorage<string>();
  const { slots, run, end } = startTasks(1);
  const first = request.run('first', () => run('a1'));
  const second = request.run('second', () => slots.run('b', async () => request.getStore()));
  end('a1');
  await first;
  expect(await second).toBe('second');
});

/** Creates a promise with the function that resolves the promise. */
function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('slots of an owner when all owners together have no limit', () => {
  test('tasks of one owner run in order, and tasks of other owners run at the same time', async () => {
    const slots = createSlots({ ...ownerLimits, waiting: { perOwner: 10, refusal: 'Too many' } });
    const started: string[] = [];
    const first = deferred();
    const tasks = [
      slots.run('a', () => (started.push('a1'), first.promise)),
      slots.run('a', () => (started.push('a2'), Promise.reject(new Error('broken')))),
      slots.run('a', async () => void started.push('a3')),
    ];
    await slots.run('b', async () => void started.push('b1'));
    expect(started).toEqual(['a1', 'b1']);
    first.resolve();
    expect((await Promise.allSettled(tasks)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(started).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  test('a new task is refused while too many tasks wait, and accepted again after other tasks end', async () => {
    const slots = createSlots({ ...ownerLimits, waiting: { perOwner: 2, refusal: 'Too many' } });
    const end = deferred();
    const tasks = [1, 2, 3].map(() => slots.run('a', () => end.promise));
    await expect(slots.run('a', async () => undefined)).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      message: 'Too many',
    });
    tasks.push(slots.run('a', async () => undefined, { mayRefuse: false }));
    end.resolve();
    await Promise.all(tasks);
    expect(await slots.run('a', async () => 'taken')).toBe('taken');
  });
});
