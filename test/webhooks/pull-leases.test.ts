import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { createWebhookSecretBox } from '../../src/webhooks/secret-box.ts';
import { newWebhookSecret } from '../../src/webhooks/signature.ts';
import { openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway();
const {
  run,
  newReader,
  newReaderWith,
  pull,
  acknowledge,
  recordImport,
  deliveriesOf,
  refused,
  skipRetryDelay,
  soon,
  prisma,
} = webhookTools(gateway);

const recover =
  'mutation ($id: ID!) { recoverWebhook(id: $id, since: "2026-01-01T00:00:00Z") { deliveries } }';
const redeliver = 'mutation ($id: ID!) { redeliverWebhook(deliveryId: $id) { id } }';
const pullAll = 'mutation ($id: ID!) { pullWebhookMessages(webhookId: $id) { id } }';

describe('pulled webhook messages that no client acknowledges', () => {
  test('when no client acknowledges a webhook message within three days, its delivery fails, and a user can recover the message', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(2);
    const [held] = await pull(readerKey, webhookId, { first: 1, leaseSeconds: 3600 });
    await prisma.webhookDelivery.updateMany({ where: { webhookId }, data: { retryUntil: new Date(0) } });
    const statuses = async () => (await deliveriesOf(key, webhookId)).map(({ status }) => status);
    // The delivery of the message that the client pulled stays PENDING, because the client still has a lease on this
    // message.
    await expect.poll(statuses, soon).toEqual(['FAILED', 'PENDING']);
    expect(await pull(readerKey, webhookId)).toEqual([]);
    expect(await acknowledge(readerKey, webhookId, [held!])).toBe(1);
    const [failed] = await deliveriesOf(key, webhookId);
    expect(failed!.attempts).toMatchObject([
      { httpStatus: null, error: 'No reader acknowledged the message within 3 days' },
    ]);
    expect(await run(key, recover, { id: webhookId })).toEqual({ deliveries: 1 });
    const [again] = await pull(readerKey, webhookId);
    expect(again!.id).toBe(failed!.id);
    expect(await acknowledge(readerKey, webhookId, [again!])).toBe(1);
    expect(await statuses()).toEqual(['DELIVERED', 'DELIVERED']);
  });

  test('a pull webhook is disabled when a message fails and the webhook has been failing for more than five days', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    await prisma.webhook.update({
      where: { id: webhookId },
      data: { failingSince: new Date(Date.now() - 6 * 86_400_000) },
    });
    await prisma.webhookDelivery.updateMany({ where: { webhookId }, data: { retryUntil: new Date(0) } });
    const enabled = () => run(key, 'query ($id: ID!) { webhook(id: $id) { enabled } }', { id: webhookId });
    await expect.poll(enabled, soon).toEqual({ enabled: false });
    expect(await refused(readerKey, pullAll, { id: webhookId })).toMatchObject({
      code: 'CONFLICT',
      details: { field: 'webhookId', value: webhookId },
    });
  });

  test('while a client has a lease on a webhook message, redeliverWebhook and recoverWebhook keep this lease, so the client can still acknowledge the message', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    await pull(readerKey, webhookId);
    await skipRetryDelay(webhookId);
    const [held] = await pull(readerKey, webhookId);
    await run(key, redeliver, { id: held!.id });
    await run(key, recover, { id: webhookId });
    expect(await pull(readerKey, webhookId)).toEqual([]);
    expect(await acknowledge(readerKey, webhookId, [held!])).toBe(1);
  });

  test.each([
    ['redeliverWebhook', 'PENDING'],
    ['recoverWebhook', 'PENDING'],
    ['redeliverWebhook', 'FAILED'],
    ['recoverWebhook', 'FAILED'],
    ['recoverWebhook', 'CANCELLED'],
  ] as const)(
    'a client can acknowledge a webhook message after its lease has ended, even if another client has called %s (status of the message: %s)',
    async (operation, status) => {
      const { key, readerKey, webhookId } = await newReaderWith(1);
      const [message] = await pull(readerKey, webhookId);
      await skipRetryDelay(webhookId);
      await prisma.webhookDelivery.updateMany({ where: { webhookId }, data: { status } });
      if (operation === 'redeliverWebhook') await run(key, redeliver, { id: message!.id });
      else await run(key, recover, { id: webhookId });
      expect(await acknowledge(readerKey, webhookId, [message!])).toBe(1);
      expect(await pull(readerKey, webhookId)).toEqual([]);
    },
  );

  test('after redeliverWebhook, the next pull returns the message whose lease has ended, and records the ended lease as a failed attempt', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    const [message] = await pull(readerKey, webhookId);
    await skipRetryDelay(webhookId);
    await run(key, redeliver, { id: message!.id });
    expect(await pull(readerKey, webhookId)).toMatchObject([{ id: message!.id }]);
    const [delivery] = await deliveriesOf(key, webhookId);
    expect(delivery!.attempts.map(({ error }) => error)).toEqual([
      'No reader acknowledged the message before the lease ended',
    ]);
  });

  test('redeliverWebhook makes a webhook message available to clients again, even 30 days after the last pull of the message', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    const [message] = await pull(readerKey, webhookId);
    await skipRetryDelay(webhookId);
    await prisma.webhookDelivery.updateMany({
      where: { webhookId },
      data: { status: 'FAILED', claimedAt: new Date(Date.now() - 30 * 86_400_000) },
    });
    await run(key, redeliver, { id: message!.id });
    expect(await pull(readerKey, webhookId)).toMatchObject([{ id: message!.id }]);
    const [delivery] = await deliveriesOf(key, webhookId);
    expect(delivery!.attempts).toMatchObject([{ durationMs: 2 ** 31 - 1 }]);
  });
});

describe('a pull webhook whose secret was encrypted with another pepper', () => {
  /** Returns a new webhook secret that is encrypted with a pepper other than the gateway's pepper. */
  const sealedElsewhere = (webhookId: string) =>
    createWebhookSecretBox('another pepper of a test').seal(webhookId, newWebhookSecret());
  const inAnHour = () => new Date(Date.now() + 3_600_000);

  test.each([
    ['the secret', (id: string) => ({ secret: sealedElsewhere(id) })],
    [
      'the former secret, during its grace period',
      (id: string) => ({ formerSecret: sealedElsewhere(id), formerSecretEndsAt: inAnHour() }),
    ],
  ])('a pull that fails because of %s does not lease the messages', async (_, changed) => {
    const { key, readerKey, webhookId } = await newReaderWith(2);
    const { secret } = await prisma.webhook.findUniqueOrThrow({ where: { id: webhookId } });
    await prisma.webhook.update({ where: { id: webhookId }, data: changed(webhookId) });
    expect(await refused(readerKey, pullAll, { id: webhookId })).toMatchObject({ code: 'INTERNAL_ERROR' });
    await prisma.webhook.update({
      where: { id: webhookId },
      data: { secret, formerSecret: null, formerSecretEndsAt: null },
    });
    expect(await pull(readerKey, webhookId)).toHaveLength(2);
    const deliveries = await deliveriesOf(key, webhookId);
    expect(deliveries.map(({ attempts }) => attempts)).toEqual([[], []]);
  });

  test('a former webhook secret that the gateway cannot decrypt does not stop pulls of messages after the grace period of this secret', async () => {
    const { readerKey, webhookId } = await newReaderWith(1);
    await prisma.webhook.update({
      where: { id: webhookId },
      data: { formerSecret: sealedElsewhere(webhookId), formerSecretEndsAt: new Date(0) },
    });
    expect(await pull(readerKey, webhookId)).toHaveLength(1);
  });
});

describe('acknowledged webhook messages', () => {
  test('after a client has acknowledged a webhook message, the gateway delivers it again only when a client calls redeliverWebhook', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    const [message] = await pull(readerKey, webhookId, { leaseSeconds: 3600 });
    await acknowledge(readerKey, webhookId, [message!]);
    await run(key, redeliver, { id: message!.id });
    expect(await pull(readerKey, webhookId)).toMatchObject([{ id: message!.id }]);
    // When a client acknowledges a webhook message, the gateway adds an attempt to the webhook delivery. The attempt
    // for an acknowledgement has no error, so its `error` is null.
    await acknowledge(readerKey, webhookId, [message!]);
    const [delivery] = await deliveriesOf(key, webhookId);
    expect(delivery!.attempts.map(({ error }) => error)).toEqual([null, null]);
  });
});

describe('large webhook messages in pull delivery', () => {
  test('when webhook messages are large, one pull returns only some of the messages, and later pulls return the remaining messages', async () => {
    const { companyId, readerKey, webhookId } = await newReaderWith(0);
    // PostgreSQL compresses large values, but it cannot compress random ids. The audit record of an import contains
    // many random ids, so the record stays large even after compression.
    const listed = Array.from({ length: 10_000 }, () => randomUUID());
    for (let count = 0; count < 6; count += 1) {
      await recordImport(companyId, { mode: 'UPSERT', created: listed }, [webhookId]);
    }
    const first = await pull(readerKey, webhookId);
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(6);
    expect(JSON.parse(first[0]!.body).data.changes).toEqual({ mode: 'UPSERT', created: listed.length });
    let pulled = first.length;
    while (pulled < 6) {
      const more = await pull(readerKey, webhookId);
      expect(more.length).toBeGreaterThan(0);
      pulled += more.length;
    }
    expect(await pull(readerKey, webhookId)).toEqual([]);
  });
});

describe.runIf(testServerUrl)('several clients of one pull webhook at the same time', () => {
  test('while one client has a lease on a webhook message that it pulled, no other client can pull the same message', async () => {
    const { readerKey, webhookId } = await newReader(['WHITELIST_CREATED']);
    const { id: eventId } = await prisma.auditRecord.create({
      data: { id: newId(), requestId: 'test', action: 'whitelist.created', targetId: newId() },
    });
    const messages = Array.from({ length: 400 }, () => newId());
    await prisma.webhookDelivery.createMany({
      data: messages.map((id) => ({
        id,
        webhookId,
        eventId,
        type: 'whitelist.created',
        retryUntil: new Date('2999-01-01'),
      })),
    });
    const readers = Array.from({ length: 16 }, async () => {
      const held: string[] = [];
      for (let empty = 0; empty < 3;) {
        const pulled = await pull(readerKey, webhookId, { first: 7, leaseSeconds: 3600 });
        held.push(...pulled.map(({ id }) => id));
        if (pulled.length === 0) empty += 1;
      }
      return held;
    });
    const held = (await Promise.all(readers)).flat();
    expect(held.sort()).toEqual(messages.sort());
  });

  test('when several clients acknowledge the same webhook message at the same time, only one acknowledgement counts', async () => {
    const { readerKey, webhookId } = await newReaderWith(5);
    const messages = await pull(readerKey, webhookId);
    const counts = await Promise.all(
      Array.from({ length: 8 }, () => acknowledge(readerKey, webhookId, messages)),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(messages.length);
  });
});
