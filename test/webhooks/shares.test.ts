import { expect, test } from 'vitest';
import { maxFailingInFlightPerCompany, maxInFlightPerCompany } from '../../src/webhooks/statements.ts';
import { maxWebhooks } from '../../src/webhooks/requirements.ts';
import { openTestGateway } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { createWebhook, newSubscriber, addEntry, received, skipRetryDelay, soon, prisma } =
  webhookTools(gateway);

const attemptsOf = (companyId: string) =>
  prisma.webhookAttempt.count({ where: { delivery: { webhook: { companyId } } } });

test('when the webhook receivers of one company do not respond, webhook messages of another company are not delayed', async () => {
  const hanging = await gateway.newTenant();
  const receiver = await startReceiver();
  receiver.answer = 'nothing';
  for (let count = 0; count < maxWebhooks; count += 1) {
    await createWebhook(hanging.key, { url: `${receiver.url}/${count}`, events: ['WHITELIST_CREATED'] });
  }
  for (let count = 0; count < 5; count += 1) await addEntry(hanging.key, hanging.locationId);
  await received(receiver, maxInFlightPerCompany);

  const quick = await newSubscriber(['WHITELIST_CREATED']);
  await addEntry(quick.key, quick.locationId);
  await received(quick.receiver, 1);
  expect(await attemptsOf(hanging.companyId)).toBe(0);
  expect(receiver.mostOpen).toBe(maxInFlightPerCompany);
});

test('a message to a healthy receiver is not delayed when other receivers of the same company return errors or do not respond', async () => {
  const { key, locationId, companyId } = await gateway.newTenant();
  const failing = await startReceiver();
  const webhookIds: string[] = [];
  for (let count = 0; count < maxWebhooks - 1; count += 1) {
    const { webhook } = await createWebhook(key, {
      url: `${failing.url}/${count}`,
      events: ['WHITELIST_CREATED'],
    });
    webhookIds.push(webhook.id);
  }
  failing.answer = 500;
  await addEntry(key, locationId);
  await expect.poll(() => attemptsOf(companyId), soon).toBe(webhookIds.length);

  failing.answer = 'nothing';
  failing.mostOpen = 0;
  const before = failing.messages.length;
  await Promise.all(webhookIds.map(skipRetryDelay));
  await received(failing, before + maxFailingInFlightPerCompany);
  const good = await startReceiver();
  await createWebhook(key, { url: good.url, events: ['WHITELIST_UPDATED', 'WHITELIST_CREATED'] });
  await addEntry(key, locationId);
  await received(good, 1);
  expect(failing.mostOpen).toBe(maxFailingInFlightPerCompany);
  expect(await attemptsOf(companyId)).toBeLessThanOrEqual(webhookIds.length + 1);
});
