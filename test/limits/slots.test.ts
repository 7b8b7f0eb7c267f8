import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SlotLimits } from '../../src/scheduling/limits.ts';
import { createSlots } from '../../src/scheduling/slots.ts';

const described = { task: 'tests', owner: 'key', reason: '' } as const;

/**
 * Slot limits like those for tasks that keep the processor busy: each owner may run one task, and a task holds its slot
 * for at most 2 s.
 */
const shortLimits = {
  ...described,
  runningPerOwner: 1,
  holdMs: 2_000,
  yields: true,
} satisfies Partial<SlotLimits>;

/** Slot limits like those for database tasks: each owner may run one task, and a task holds its slot until it ends. */
const ownerLimits = {
  ...described,
  runningPerOwner: 1,
  running: Infinity,
  holdMs: Infinity,
  yields: false,
} satisfies SlotLimits;

/** Returns functions that start and end tasks, and a list of the tasks in the order in which they began. */
function startTasks(running: number, holdMs = Infinity) {
  const slots = createSlots({ ...shortLimits, running, holdMs });
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

test('when only one task may run at a time, the tasks of different owners (such as API keys) run in round-robin order', async () => {
  const { begun, run, end } = startTasks(1);
  const tasks = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(run);
  const order = ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'];
  for (const [index, task] of order.entries()) {
    await expect.poll(() => begun).toEqual(order.slice(0, index + 1));
    end(task);
  }
  await Promise.all(tasks);
});

test('with two slots, the first tasks of two owners (such as API keys) start before the second task of the first owner', async () => {
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

test('when a task has run for 2 s, tasks of other owners (such as API keys) can start, but no other task of the same owner', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { begun, run, end } = startTasks(1, shortLimits.holdMs);
  const tasks = ['a1', 'b1', 'c1', 'a2'].map(run);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['a1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a1', 'b1']);
  // After 2 s, the task `a1` no longer occupies a slot, although it still runs. The end of `a1` therefore frees no
  // slot.
  end('a1');
  await vi.advanceTimersByTimeAsync(1_999);
  expect(begun).toEqual(['a1', 'b1']);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  end('b1');
  end('c1');
  await vi.waitFor(() => expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']), { timeout: 60_000 });
  end('a2');
  await Promise.all(tasks);
});

test('a task that waited for a slot runs in the asynchronous context of its own request, so that traces contain the right spans', async () => {
  const request = new AsyncLocalStorage<string>();
  const { slots, run, end } = startTasks(1);
  const first = request.run('first', () => run('a1'));
  const second = request.run('second', () => slots.run('b', async () => request.getStore()));
  end('a1');
  await first;
  expect(await second).toBe('second');
});

/** Returns a new promise, and the function that resolves it. */
function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

/**
 * Creates slots whose tasks wait at most 8 s. The test controls the time, because the function replaces `setTimeout`
 * and `clearTimeout`.
 */
function slotsWithShortWaits(perOwner: number) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return createSlots({ ...ownerLimits, waiting: { perOwner, maxMs: 8_000, refusal: 'Too long' } });
}

describe('tasks with a concurrency limit for each owner (such as an API key), and without a limit for all owners together', () => {
  test('tasks of one owner (such as an API key) run one by one, and tasks of different owners run concurrently', async () => {
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

  test('a task that waits too long is refused and never starts, unless the task has the option `mayRefuse: false`', async () => {
    const slots = slotsWithShortWaits(10);
    const started: string[] = [];
    const end = deferred();
    const first = slots.run('a', () => (started.push('first'), end.promise));
    const early = slots.run('a', async () => void started.push('early')).catch((error: unknown) => error);
    const exempt = slots.run('a', async () => void started.push('exempt'), { mayRefuse: false });
    await vi.advanceTimersByTimeAsync(7_999);
    const late = slots.run('a', async () => void started.push('late'));
    await vi.advanceTimersByTimeAsync(1);
    expect(await early).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', message: 'Too long' });
    end.resolve();
    await Promise.all([first, exempt, late]);
    expect(started).toEqual(['first', 'exempt', 'late']);
  });

  test('after the gateway has refused the only waiting task of an owner (such as an API key), the next task of this owner starts as soon as a slot is free', async () => {
    const slots = slotsWithShortWaits(1);
    const end = deferred();
    const first = slots.run('a', () => end.promise);
    const refused = slots.run('a', async () => undefined).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(8_000);
    expect(await refused).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    end.resolve();
    await first;
    expect(await slots.run('a', async () => 'done')).toBe('done');
  });
});
