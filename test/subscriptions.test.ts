import type { ExecutionResult } from 'graphql';
import { EventEmitter, on } from 'node:events';
import { expect, test } from 'vitest';
import type { AuthenticatedKey } from '../src/auth/key.ts';
import { keyInvalid } from '../src/errors/error-table.ts';
import { createKeyBoundStreams } from '../src/graphql/subscriptions.ts';

const key: AuthenticatedKey = {
  id: 'key',
  permissions: new Set(),
  unrestricted: false,
  companyIds: [],
  locationIds: [],
  visibleCompanyIds: [],
  hourlyLimit: 1,
  burstLimit: 1,
  expiresAt: null,
};

/** A stream whose events and checks are told by the test. */
function openStream() {
  const events = new EventEmitter();
  const keyChanges = new EventEmitter();
  const ended = new AbortController();
  async function* results(): AsyncGenerator<ExecutionResult> {
    try {
      for await (const [n] of on(events, 'event', { signal: ended.signal })) yield { data: { n } };
    } catch {
      // ended
    }
  }
  const source = results();
  const checks: (() => Promise<unknown>)[] = [];
  let checked = 0;
  const streams = createKeyBoundStreams(() => {});
  const stream = streams.bind(
    {
      next: () => source.next(),
      async return() {
        ended.abort();
        return source.return(undefined);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    },
    {
      key,
      reauthenticate: async () => {
        checked += 1;
        await checks.shift()?.();
      },
      onKeysChanged(listener) {
        keyChanges.on('change', listener);
        return () => keyChanges.off('change', listener);
      },
      stopping: new AbortController().signal,
    },
    streams.open(key),
  );
  return {
    stream,
    push: (n: number) => events.emit('event', n),
    /** Says that keys have changed; settles when the stream has checked its own, which does what is given. */
    async keysChange(check: () => Promise<unknown>) {
      checks.push(check);
      const before = checked;
      keyChanges.emit('change');
      await expect.poll(() => checked).toBeGreaterThan(before);
    },
  };
}

test('a stream goes on when its key could not be checked for a moment', async () => {
  const { stream, push, keysChange } = openStream();
  const first = stream.next();
  await keysChange(() => Promise.reject(new Error('the database is busy')));
  push(1);
  expect(await first).toEqual({ done: false, value: { data: { n: 1 } } });
});

test('a stream ends with the reason when its key is refused', async () => {
  const { stream, keysChange } = openStream();
  const first = stream.next();
  await keysChange(() => Promise.reject(keyInvalid));
  expect(await first).toEqual({ done: false, value: { errors: [keyInvalid] } });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});
