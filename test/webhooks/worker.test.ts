import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { newId } from '../../src/ids.ts';
import { LookupNotStartedError } from '../../src/webhooks/look-ups.ts';
import { retryForMs } from '../../src/webhooks/outbox.ts';
import { createWebhookSecretBox } from '../../src/webhooks/secret-box.ts';
import { newWebhookSecret } from '../../src/webhooks/signature.ts';
import { createWebhookWorker } from '../../src/webhooks/worker.ts';
import { createScratchDatabase } from '../support/scratch-database.ts';

const log = pino({ level: 'silent' });
const soon = { timeout: 60_000, interval: 50 };

const secrets = createWebhookSecretBox('a pepper of a test');

/** Starts a webhook worker on a new database that contains one waiting webhook message. */
async function startWorker(retryUntil: Date, post: () => Promise<number>, sealedWith = secrets) {
  const scratch = await createScratchDatabase();
  const database = await openDatabase({ ...scratch, log });
  const { prisma, sql } = database;
  const [id, eventId, deliveryId] = [newId(), newId(), newId()];
  await prisma.auditRecord.create({
    data: { id: eventId, requestId: 'test', action: 'whitelist.created', targetId: newId() },
  });
  const secret = sealedWith.seal(id, newWebhookSecret());
  await prisma.webhook.create({
    data: { id, url: 'https://a.example/', events: [], locationIds: [], secret },
  });
  await prisma.webhookDelivery.create({
    data: { id: deliveryId, webhookId: id, eventId, type: 'whitelist.created', retryUntil },
  });
  const target = { fault: async () => undefined, post };
  const worker = createWebhookWorker({ prisma, sql, log, secrets, target, onAttempt: () => undefined });
  onTestFinished(async () => {
    await worker.close();
    await database.close();
    await scratch.drop();
  });
  return {
    webhook: () => prisma.webhook.findUniqueOrThrow({ where: { id } }),
    delivery: () =>
      prisma.webhookDelivery.findUniqueOrThrow({ where: { id: deliveryId }, include: { attempts: true } }),
  };
}

test('when a DNS look-up cannot start, the gateway retries the webhook delivery and records no failed attempt', async () => {
  const answers = [() => Promise.reject(new LookupNotStartedError('busy')), () => Promise.resolve(204)];
  let posts = 0;
  const { delivery, webhook } = await startWorker(new Date('2999-01-01T00:00:00Z'), () =>
    answers[posts++]!(),
  );
  await expect.poll(delivery, soon).toMatchObject({ status: 'DELIVERED', attempts: [{ httpStatus: 204 }] });
  expect(posts).toBe(2);
  expect(await webhook()).toMatchObject({ failingSince: null });
});

test('the second delivery attempt follows soon after the first attempt, even when the webhook message waited for hours before the first attempt', async () => {
  const waitedMs = 3 * 3_600_000;
  const retryUntil = new Date(Date.now() + retryForMs - waitedMs);
  const { delivery } = await startWorker(retryUntil, () => Promise.resolve(503));
  await expect.poll(async () => (await delivery()).attempts.length, soon).toBe(1);
  const { nextAttemptAt, attempts } = await delivery();
  expect(nextAttemptAt.getTime() - attempts[0]!.createdAt.getTime()).toBeLessThanOrEqual(15_000);
});

test('after a change of the pepper, a failed delivery attempt says that the secret of the webhook must be rotated', async () => {
  const earlier = createWebhookSecretBox('an earlier pepper of a test');
  const { delivery } = await startWorker(
    new Date('2999-01-01T00:00:00Z'),
    () => Promise.resolve(204),
    earlier,
  );
  const error = expect.stringMatching(/another KEY_PEPPER; rotate the secret/);
  await expect
    .poll(delivery, soon)
    .toMatchObject({ status: 'PENDING', attempts: [{ httpStatus: null, error }] });
});
