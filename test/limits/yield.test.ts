import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { beginRequest, yieldToEventLoop } from '../../src/scheduling/yield.ts';

/** Keeps the processor busy for some milliseconds. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Keeps the event loop busy for a number of turns. */
async function workInTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    work(8);
    await nextTurn();
  }
}

/** Runs a long task beside other work of ten event loop turns, and returns the order in which both end. */
async function orderOfEnds(): Promise<string[]> {
  const order: string[] = [];
  await Promise.all([
    yieldToEventLoop().then(() => order.push('long work')),
    workInTurns(10).then(() => order.push('others')),
  ]);
  return order;
}

/** Counts the long task itself and other requests as requests in progress, until the test ends. */
function beginRequests(others: number): void {
  for (let request = 0; request <= others; request += 1) onTestFinished(beginRequest());
}

test('a long task that yields waits for another request, even over several turns of the event loop', async () => {
  beginRequests(1);
  expect(await orderOfEnds()).toEqual(['others', 'long work']);
});

test('a long task that yields waits for one turn of the event loop when no other request is in progress', async () => {
  beginRequests(0);
  expect(await orderOfEnds()).toEqual(['long work', 'others']);
});

test('when two long tasks yield at the same time, the first task continues without waiting for the second', async () => {
  beginRequests(1);
  const order: string[] = [];
  await Promise.all([
    yieldToEventLoop().then(() => order.push('first')),
    yieldToEventLoop().then(() => order.push('second')),
    workInTurns(10).then(() => order.push('others')),
  ]);
  expect(order).toEqual(['first', 'others', 'second']);
});

test('a long task that yields continues eventually, even when the process stays busy', async () => {
  beginRequests(1);
  let isOver = false;
  const busy = (async () => {
    while (!isOver) await workInTurns(1);
  })();
  await yieldToEventLoop();
  isOver = true;
  await busy;
});

test('a long task that yields continues after fewer than ten slow turns of the event loop', async () => {
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
