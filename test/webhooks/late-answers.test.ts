import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { claimDue, release } from '../../src/webhooks/outbox.ts';
import { openTestGateway } from '../support/harness.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const {
  run,
  newReaderWith,
  newMovedSubscriber,
  pull,
  acknowledge,
  addEntry,
  deliveriesOf,
  received,
  skipRetryDelay,
  soon,
  prisma,
} = webhookTools(gateway);

const failingSince = (key: string, id: string) =>
  run<{ failingSince: string | null }>(key, 'query ($id: ID!) { webhook(id: $id) { failingSince } }', { id });

describe('late answers and acknowledgements of webhook messages', () => {
  test.each([
    ['no ids', []],
    ['an unknown id', [{ id: newId() }]],
  ])('a pull webhook is still marked as failing after a client has acknowledged %s', async (_, ids) => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    await pull(readerKey, webhookId);
    await skipRetryDelay(webhookId); // ends the lease
    await pull(readerKey, webhookId);
    expect((await failingSince(key, webhookId)).failingSince).not.toBeNull();
    expect(await acknowledge(readerKey, webhookId, ids)).toBe(0);
    expect((await failingSince(key, webhookId)).failingSince).not.toBeNull();
  });

  test('a webhook message that expired before a client pulled it cannot be acknowledged', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    await prisma.webhookDelivery.updateMany({
      where: { webhookId },
      data: { retryUntil: new Date(Date.now() - 1000) },
    });
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.status, soon).toBe('FAILED');
    const [message] = await deliveriesOf(key, webhookId);
    expect(await acknowledge(readerKey, webhookId, [message!])).toBe(0);
    expect((await deliveriesOf(key, webhookId))[0]!.status).toBe('FAILED');
  });

  test('redeliverWebhook sends the message to the new URL, even while an attempt to deliver the message to the former URL is in progress', async () => {
    const { key, webhookId, newReceiver, answer } = await newMovedSubscriber();
    const [delivery] = await deliveriesOf(key, webhookId);
    await run(key, 'mutation ($id: ID!) { redeliverWebhook(deliveryId: $id) { id status } }', {
      id: delivery!.id,
    });
    answer();
    await received(newReceiver, 1);
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.attempts.length, soon).toBe(2);
    expect((await deliveriesOf(key, webhookId))[0]!.status).toBe('DELIVERED');
  });

  test('a webhook stays marked as failing while the receiver at its new URL fails, even when the receiver at its former URL accepts a message', async () => {
    const { key, locationId, webhookId, newReceiver, answer } = await newMovedSubscriber();
    newReceiver.answer = 503;
    await addEntry(key, locationId);
    await received(newReceiver, 1);
    await expect.poll(async () => (await failingSince(key, webhookId)).failingSince, soon).not.toBeNull();
    answer();
    await expect
      .poll(
        async () => (await deliveriesOf(key, webhookId)).filter((d) => d.status === 'DELIVERED').length,
        soon,
      )
      .toBe(1);
    expect((await failingSince(key, webhookId)).failingSince).not.toBeNull();
  });

  test('a late failure of an earlier delivery attempt, or a late release of its lease, does not shorten the lease of the next worker', async () => {
    const { key, webhookId, answer } = await newMovedSubscriber(503);
    const { sql } = gateway.database;
    const leased = () => prisma.webhookDelivery.findFirstOrThrow({ where: { webhookId } });
    const { id, nextAttemptAt: leaseEndsAt } = await leased();
    await skipRetryDelay(webhookId); // ends the lease of the attempt in progress
    const claimed = (await claimDue(sql, [])).find((delivery) => delivery.id === id);
    await release(sql, { id, leaseEndsAt });
    expect((await leased()).nextAttemptAt).toEqual(claimed!.leaseEndsAt);
    answer();
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.attempts.length, soon).toBe(1);
    expect(await leased()).toMatchObject({ status: 'PENDING', nextAttemptAt: claimed!.leaseEndsAt });
    await release(sql, claimed!);
    expect((await leased()).nextAttemptAt).not.toEqual(claimed!.leaseEndsAt);
  });
});
