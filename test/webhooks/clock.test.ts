import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { databaseNow } from '../../src/database/clock.ts';
import { openTestGateway } from '../support/harness.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { run, newSubscriber, addEntry, received, skipRetryDelay, soon, prisma } = webhookTools(gateway);

const minuteMs = 60_000;

// The tests in this file set the clock of the test process back by a minute. An embedded database uses the clock of the
// test process. With an embedded database, the tests therefore check only that the gateway sends webhook messages on
// time.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - minuteMs, shouldAdvanceTime: true });
});
afterAll(() => {
  vi.useRealTimers();
});

test('a gateway whose clock is one minute behind does not resend a failing webhook message before the next retry is due', async () => {
  const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
  receiver.answer = 500;
  await addEntry(key, locationId);
  for (const attempts of [1, 2]) {
    await expect
      .poll(() => prisma.webhookAttempt.count({ where: { delivery: { webhookId } } }), soon)
      .toBe(attempts);
    const delivery = await prisma.webhookDelivery.findFirstOrThrow({ where: { webhookId } });
    expect(delivery.nextAttemptAt.getTime()).toBeGreaterThan((await databaseNow(prisma)).getTime());
    // The gateway must not resend the failed webhook message before the next attempt for this message is due. The test
    // therefore creates a second webhook with a new message. To send the new webhook message, the gateway reads all due
    // messages from the outbox. If the next attempt for the failed webhook message were already due, the gateway would
    // send this message together with the new message.
    const later = await newSubscriber(['WHITELIST_CREATED']);
    await addEntry(later.key, later.locationId);
    await received(later.receiver, 1);
    expect(receiver.messages).toHaveLength(attempts);
    await skipRetryDelay(webhookId);
  }
});

test('webhook grace periods, retry times and creation times come from the clock of the database', async () => {
  const { key, webhookId } = await newSubscriber(['LOCATION_FULL']);
  const before = await databaseNow(prisma);
  await run(key, 'mutation ($id: ID!) { rotateWebhookSecret(id: $id, graceSeconds: 60) { secret } }', {
    id: webhookId,
  });
  await run(key, 'mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id: webhookId });
  const webhook = await prisma.webhook.findUniqueOrThrow({ where: { id: webhookId } });
  expect(webhook.formerSecretEndsAt!.getTime()).toBeGreaterThanOrEqual(before.getTime() + minuteMs);
  const { createdAt, retryUntil } = await prisma.webhookDelivery.findFirstOrThrow({ where: { webhookId } });
  expect(createdAt.getTime()).toBeGreaterThanOrEqual(before.getTime());
  expect(retryUntil.getTime()).toBeGreaterThan(createdAt.getTime());
  for (const record of await prisma.auditRecord.findMany({ where: { targetId: webhookId } }))
    expect(record.createdAt.getTime()).toBeGreaterThanOrEqual(before.getTime() - minuteMs / 2);
});

test('no column in the Prisma schema gets its default time from the clock of the gateway process', async () => {
  const schema = await readFile(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
  expect(schema).not.toMatch(/@default\(now\(\)\)/);
});
