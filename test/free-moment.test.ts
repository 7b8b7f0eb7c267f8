import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { freeMoment } from '../src/free-moment.ts';

/** Keeps the processor for some milliseconds. */
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

test('a long work goes on when others are done that take several turns of the event loop', async () => {
  const order: string[] = [];
  await Promise.all([
    freeMoment().then(() => order.push('long work')),
    workInTurns(10).then(() => order.push('others')),
  ]);
  expect(order).toEqual(['others', 'long work']);
});

test('a long work goes on in the end, however busy the process is', async () => {
  let isOver = false;
  const busy = (async () => {
    while (!isOver) await workInTurns(1);
  })();
  await freeMoment();
  isOver = true;
  await busy;
});
