import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import type { Sql } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { createWaitingMessages } from '../../src/webhooks/waiting-messages.ts';
import { openEventStream } from '../support/event-stream.ts';
import { openTestGateway } from '../support/harness.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { run, newReader, newReaderWith, newSubscriber, pull, acknowledge, addEntry } = webhookTools(gateway);

const query = 'subscription ($id: ID!) { webhookMessagesWaiting(webhookId: $id) { webhookId waiting } }';
const watch = (key: string, id: string) =>
  openEventStream<{ webhookMessagesWaiting: { webhookId: string; waiting: number } }>(gateway.app, {
    key,
    query,
    variables: { id },
  });
const noticeOf = (webhookId: string, waiting: number) => ({
  data: { webhookMessagesWaiting: { webhookId, waiting } },
});

describe('the subscription webhookMessagesWaiting', () => {
  test('the subscription webhookMessagesWaiting sends the number of waiting messages at the start, after a new message, and after the lease of a pulled message has expired', async () => {
    const { key, locationId, readerKey, webhookId } = await newReaderWith(2);
    const stream = await watch(readerKey, webhookId);
    expect(await stream.next()).toEqual(noticeOf(webhookId, 2));
    const messages = await pull(readerKey, webhookId);
    await acknowledge(readerKey, webhookId, messages);
    await addEntry(key, locationId);
    expect(await stream.next()).toEqual(noticeOf(webhookId, 1));
    await pull(readerKey, webhookId, { leaseSeconds: 10 });
    expect(await stream.next()).toEqual(noticeOf(webhookId, 1));
    await stream.cancel();
  });

  test('the subscription webhookMessagesWaiting sends nothing while no message waits, and ends when the webhook is deleted', async () => {
    const { key, readerKey, webhookId } = await newReader(['LOCATION_FULL']);
    const stream = await watch(readerKey, webhookId);
    await run(key, 'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }', { id: webhookId });
    expect(await stream.next()).toBeUndefined();
  });

  test("the subscription webhookMessagesWaiting rejects an API key without RECEIVE_WEBHOOKS, a webhook outside the API key's scope, and a push webhook", async () => {
    const { companyId, readerKey, webhookId } = await newReader(['LOCATION_FULL']);
    const manager = await gateway.newKey({ companyIds: [companyId], permissions: ['MANAGE_WEBHOOKS'] });
    const foreign = await newReader(['LOCATION_FULL']);
    const pushed = await newSubscriber(['LOCATION_FULL']);
    for (const [key, id, code] of [
      [manager, webhookId, 'FORBIDDEN'],
      [foreign.readerKey, webhookId, 'NOT_FOUND'],
      [readerKey, newId(), 'NOT_FOUND'],
      [pushed.key, pushed.webhookId, 'VALIDATION_ERROR'],
    ] as const) {
      const stream = await watch(key, id);
      expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code } }] });
    }
  });
});

describe('notices about waiting webhook messages in one gateway process', () => {
  /**
   * Creates the object that tells subscribers how many webhook messages are waiting. A fake database returns the given
   * numbers of waiting messages.
   */
  function newNotices(counts: { webhookId: string; waiting: number; newest: Date | null }[]) {
    const query = vi.fn(async () => counts);
    const notices = createWaitingMessages({
      sql: { query } as unknown as Sql,
      log: pino({ level: 'silent' }),
    });
    return { query, notices };
  }

  test('one database query serves all webhookMessagesWaiting subscriptions of a gateway process, and no query runs without subscriptions', async () => {
    vi.useFakeTimers();
    try {
      const { query, notices } = newNotices(
        ['a', 'b'].map((webhookId) => ({ webhookId, waiting: 0, newest: null })),
      );
      const watched = [notices.watch('a'), notices.watch('b'), notices.watch('a')];
      await vi.advanceTimersByTimeAsync(1000);
      expect(query.mock.calls.at(-1)).toEqual([expect.anything(), [['a', 'b']]]);
      const before = query.mock.calls.length;
      await vi.advanceTimersByTimeAsync(1000);
      expect(query).toHaveBeenCalledTimes(before + 1);
      for (const each of watched) await each.return!();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(query).toHaveBeenCalledTimes(before + 1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('when a client deletes the webhook of the only subscription, the gateway no longer queries the database for waiting messages', async () => {
    vi.useFakeTimers();
    try {
      const { query, notices } = newNotices([]);
      const watched = notices.watch('a');
      await vi.advanceTimersByTimeAsync(1000);
      expect(await watched.next()).toEqual({ done: true, value: undefined });
      const before = query.mock.calls.length;
      await vi.advanceTimersByTimeAsync(10_000);
      expect(query).toHaveBeenCalledTimes(before);
    } finally {
      vi.useRealTimers();
    }
  });

  test('subscribers get a notice about an older webhook message, even when a newer message was committed first', async () => {
    vi.useFakeTimers();
    try {
      const counted = { webhookId: 'a', waiting: 1, newest: new Date('2026-01-01T10:00:02Z') };
      const { notices } = newNotices([counted]);
      const watched = notices.watch('a');
      await vi.advanceTimersByTimeAsync(1000);
      expect(await watched.next()).toEqual({ done: false, value: 1 });
      counted.newest = new Date('2026-01-01T10:00:00Z');
      const told = vi.fn();
      void watched.next().then(told);
      await vi.advanceTimersByTimeAsync(3_000);
      expect(told).toHaveBeenCalledWith({ done: false, value: 1 });
      await watched.return!();
    } finally {
      vi.useRealTimers();
    }
  });

  test('the subscription webhookMessagesWaiting repeats its notice after about 30 seconds when the same webhook messages are still waiting', async () => {
    vi.useFakeTimers();
    try {
      const { notices } = newNotices([{ webhookId: 'a', waiting: 3, newest: new Date() }]);
      const watched = notices.watch('a');
      await vi.advanceTimersByTimeAsync(1000);
      expect(await watched.next()).toEqual({ done: false, value: 3 });
      const told = vi.fn();
      void watched.next().then(told);
      await vi.advanceTimersByTimeAsync(25_000);
      expect(told).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(10_000);
      expect(told).toHaveBeenCalledWith({ done: false, value: 3 });
      await watched.return!();
    } finally {
      vi.useRealTimers();
    }
  });
});
