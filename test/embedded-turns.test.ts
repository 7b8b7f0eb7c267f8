import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import { expect, test } from 'vitest';
import { shareConnection } from '../src/database/embedded-turns.ts';

/** A database that answers in the same turn of the event loop, as the embedded one does, and what it was asked. */
function newDatabase() {
  const asked: string[] = [];
  const query = async (text: string) => void asked.push(text);
  return { asked, ...shareConnection({ query } as unknown as PGlite) };
}

test('a gate that asks over a socket comes between the statements of a long work', async () => {
  const { asked, gates, others } = newDatabase();
  const work = (async () => {
    for (let part = 0; part < 20; part += 1) await others.query(`part ${part}`);
  })();
  const gate = (async () => {
    // From the socket to the question: several turns of the event loop.
    for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    await gates.query('gate');
  })();
  await Promise.all([work, gate]);
  expect(asked.indexOf('gate')).toBeLessThanOrEqual(2);
});

test('what gates ask comes first, each kind in its order', async () => {
  const { asked, gates, others } = newDatabase();
  const all = ['a', 'b'].map((text) => others.query(text));
  all.push(...['gate 1', 'gate 2'].map((text) => gates.query(text)));
  await Promise.all(all);
  expect(asked).toEqual(['gate 1', 'gate 2', 'a', 'b']);
});
