import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { newId } from '../../src/ids.ts';
import { LookupNotStartedError } from '../../src/webhooks/look-ups.ts';
import { createWebhookSecretBox } from '../../src/webhooks/secret-box.ts';
import { newWebhookSecret } from '../../src/webhooks/signature.ts';
import { createWebhookWorker } from '../../src/webhooks/worker.ts';
import { createScratchDatabase } from '../support/scratch-database.ts';

const log = pino({ level: 'silent' });
const soon = { timeout: 60_000, interval: 50 };

test('when a DNS look-up cannot start, the gateway retries the webhook delivery and records no failed attempt', async () => {
  const scratch = await createScratchDatabase();
  const database = await openDatabase({ ...scratch, log });
  const { prisma, sql } = database;
  const secrets = createWebhookSecretBox('a pepper of a test');
  const [id, eventId, deliveryId] = [newId(), newId(), newId()];
  await prisma.auditRecord.create({
    data: { id: eventId, requestId: 'test', action: 'whitelist.created', targetId: newId() },
  });
  const secret = secrets.seal(id, newWebhookSecret());
  await prisma.webhook.create({
    data: { id, url: 'https://a.example/', events: [], locationIds: [], secret },
  });
  await prisma.webhookDelivery.create({
    data: {
      id: deliveryId,
      webhookId: id,
      eventId,
      type: 'whitelist.created',
      retryUntil: new Date('2999-01-01T00:00:00Z'),
    },
  });

  const answers = [() => Promise.reject(new LookupNotStartedError('busy')), () => Promise.resolve(204)];
  let posts = 0;
  const worker = createWebhookWorker({
    prisma,
    sql,
    log,
    secrets,
    target: { fault: async () => undefined, post: () => answers[posts++]!() },
    onAttempt: () => undefined,
  });
  try {
    await expect
      .poll(() => prisma.webhookDelivery.findUnique({ where: { id: deliveryId } }), soon)
      .toMatchObject({ status: 'DELIVERED' });
    expect(posts).toBe(2);
    expect(await prisma.webhookAttempt.findMany({ select: { httpStatus: true } })).toEqual([
      { httpStatus: 204 },
    ]);
    expect(await prisma.webhook.findUnique({ where: { id } })).toMatchObject({ failingSince: null });
  } finally {
    await worker.close();
    await database.close();
    await scratch.drop();
  }
});
