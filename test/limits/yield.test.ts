import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { beginRequest, yieldToEventLoop } from '../../src/scheduling/yield.ts';
import { work } from '../support/busy.ts';

/** The number of milliseconds for which `workInTurns` has kept the event loop busy. */
let workedMs = 0;

/** Keeps the process busy for the given number of iterations of the event loop, for 8 ms in each iteration. */
async function workInTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    const end = process.hrtime.bigint() + 8_000_000n;
    while (process.hrtime.bigint() < end);
    workedMs += 8;
    await nextTurn();
  }
}

/**
 * Replaces the clock of the process with a clock that advances only by the milliseconds of work (`workedMs`). If the
 * test used the real clock, other programs on the machine could slow down the work that the test does beside the long
 * task. The pause of the long task can take at most 250 ms, so the long task would then continue before the slow work
 * beside it has ended.
 */
function useClockOfWork(): void {
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => workedMs);
  onTestFinished(() => clock.mockRestore());
}

/**
 * The number of event loop iterations that the other work takes while a long task yields. These iterations take 32 ms
 * in total. A long task that yields waits for up to 250 ms, so it continues after the other work has ended.
 */
const otherTurns = 4;

/**
 * Runs two tasks at the same time: a long task that yields to the event loop, and other work that takes `otherTurns`
 * iterations of the event loop. Returns the names of both tasks in the order in which they end.
 */
async function orderOfEnds(): Promise<string[]> {
  const order: string[] = [];
  await Promise.all([
    yieldToEventLoop().then(() => order.push('long work')),
    workInTurns(otherTurns).then(() => order.push('others')),
  ]);
  return order;
}

/**
 * Begins one request that runs the long task, and `others` more requests. All these requests stay in progress until the
 * test ends.
 */
function beginRequests(others: number): void {
  for (let request = 0; request <= others; request += 1) onTestFinished(beginRequest());
}

test('when a long task yields to the event loop, another request gets several iterations of the loop before the long task continues', async () => {
  useClockOfWork();
  beginRequests(1);
  expect(await orderOfEnds()).toEqual(['others', 'long work']);
});

test('when no other request is in progress, a long task that yields to the event loop continues almost at once', async () => {
  beginRequests(0);
  expect(await orderOfEnds()).toEqual(['long work', 'others']);
});

test('when two long tasks yield at the same time, the first task does not wait for the second task', async () => {
  useClockOfWork();
  beginRequests(1);
  const order: string[] = [];
  await Promise.all([
    yieldToEventLoop().then(() => order.push('first')),
    yieldToEventLoop().then(() => order.push('second')),
    workInTurns(otherTurns).then(() => order.push('others')),
  ]);
  expect(order).toEqual(['first', 'others', 'second']);
});

test('a long task that yields to the event loop continues after some time, even when other work keeps the process busy', async () => {
  beginRequests(1);
  let isOver = false;
  const busy = (async () => {
    while (!isOver) await workInTurns(1);
  })();
  await yieldToEventLoop();
  isOver = true;
  await busy;
});

test('when each iteration of the event loop takes 100 ms, a long task that has yielded continues after at most nine iterations', async () => {
  beginRequests(1);
  let isOver = false;
  let turns = 0;
  const busy = (async () => {
    while (!isOver) {
      work(100);
      turns += 1;
      await nextTurn();
    }
  })();
  await yieldToEventLoop();
  isOver = true;
  await busy;
  expect(turns).toBeLessThan(10);
});
