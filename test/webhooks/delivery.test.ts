import fc from 'fast-check';
import { pino } from 'pino';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, describe, expect, test } from 'vitest';
import { openGateway } from '../../src/gateway.ts';
import { newId } from '../../src/ids.ts';
import { retryDelayMs } from '../../src/webhooks/attempt-outcome.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { webhookTools } from '../support/webhooks.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true', OPERATOR_API_KEY: operator });
const { prisma } = gateway.database;

const { run, newSubscriber, newMovedSubscriber, addEntry, deliveriesOf, received, skipRetryDelay, soon } =
  webhookTools(gateway);

describe('webhook messages', () => {
  test('a webhook message describes the change, and the library of Standard Webhooks accepts its signature', async () => {
    const { key, companyId, locationId, receiver, secret } = await newSubscriber(['WHITELIST_CREATED']);
    const entry = await addEntry(key, locationId);
    const [said] = await received(receiver, 1);
    expect(said).toMatchObject({
      type: 'whitelist.created',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { companyId, locationId, targetId: entry.id, changes: { plateNumber: entry.plateNumber } },
    });
    const [message] = receiver.messages;
    const headers = message!.headers as Record<string, string>;
    expect(new Verifier(secret).verify(message!.body, headers)).toEqual(said);
    expect(() => new Verifier(secret).verify(message!.body.replace('created', 'deleted'), headers)).toThrow();
    expect(headers['content-type']).toBe('application/json');
  });

  test('after the rotation of a webhook secret, messages have signatures with the old and the new secret until the grace period ends', async () => {
    const { key, receiver, secret, webhookId } = await newSubscriber(['LOCATION_FULL']);
    const rotate = (graceSeconds: number) =>
      run<{ secret: string }>(
        key,
        'mutation ($id: ID!, $graceSeconds: Int) { rotateWebhookSecret(id: $id, graceSeconds: $graceSeconds) { secret } }',
        { id: webhookId, graceSeconds },
      );
    const test = () => run(key, 'mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id: webhookId });
    const { secret: second } = await rotate(60);
    await test();
    expect(await received(receiver, 1)).toMatchObject([{ type: 'webhook.test' }]);
    const [first] = receiver.messages;
    for (const each of [secret, second]) {
      new Verifier(each).verify(first!.body, first!.headers as Record<string, string>);
    }
    const { secret: third } = await rotate(0);
    await test();
    await received(receiver, 2);
    const last = receiver.messages[1]!;
    new Verifier(third).verify(last.body, last.headers as Record<string, string>);
    expect(() => new Verifier(second).verify(last.body, last.headers as Record<string, string>)).toThrow();
  });

  test('a webhook gets messages only about successful changes, only for its own company, and only for events to which it subscribes', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_DELETED']);
    const other = await newSubscriber(['WHITELIST_CREATED']);
    await addEntry(key, locationId);
    const body = newEntry();
    await addEntry(other.key, other.locationId);
    await gateway.rest('POST', `/locations/${other.locationId}/whitelist`, { key: other.key, body });
    const again = await gateway.rest('POST', `/locations/${other.locationId}/whitelist`, {
      key: other.key,
      body,
    });
    expect(again.status).toBe(409);
    await received(other.receiver, 2);
    expect(await deliveriesOf(key, webhookId)).toEqual([]);
    expect(await deliveriesOf(other.key, other.webhookId)).toHaveLength(2);
    expect(receiver.messages).toEqual([]);
  });
});

describe('webhook deliveries', () => {
  test('the gateway retries a refused webhook delivery with the same message id and with growing delays', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 500;
    await addEntry(key, locationId);
    await received(receiver, 1);
    const attempts = async () => (await deliveriesOf(key, webhookId))[0]!;
    await expect.poll(async () => (await attempts()).attempts.length, soon).toBe(1);
    const waiting = await attempts();
    expect(waiting).toMatchObject({
      type: 'whitelist.created',
      status: 'PENDING',
      attempts: [{ httpStatus: 500, error: null }],
    });
    expect(Date.parse(waiting.nextAttemptAt!)).toBeGreaterThan(Date.now());
    receiver.answer = 200;
    await skipRetryDelay(webhookId);
    await expect.poll(async () => (await attempts()).status, soon).toBe('DELIVERED');
    expect(await attempts()).toMatchObject({
      nextAttemptAt: null,
      attempts: [{ httpStatus: 500 }, { httpStatus: 200 }],
    });
    const [first, second] = receiver.messages;
    expect(second!.id).toBe(first!.id);
    expect(second!.body).toBe(first!.body);
    expect(waiting).toMatchObject({ id: first!.id, body: first!.body });
    expect(await deliveriesOf(key, webhookId, '(status: PENDING)')).toEqual([]);
    const counts = `query ($id: ID!) { webhook(id: $id) {
      all: deliveries { totalCount } pending: deliveries(status: PENDING) { totalCount } } }`;
    expect(await run(key, counts, { id: webhookId })).toEqual({
      all: { totalCount: 1 },
      pending: { totalCount: 0 },
    });
  });

  test('the delay between delivery attempts grows from ten seconds to six hours, with a random factor', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3 * 86_400_000 }), (triedForMs) => {
        const middle = Math.min(Math.max(2 * triedForMs, 10_000), 6 * 3_600_000);
        const delayMs = retryDelayMs(triedForMs);
        return delayMs >= middle / 2 && delayMs < middle * 1.5;
      }),
    );
  });

  test('a webhook delivery fails after three days of retries', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 503;
    await addEntry(key, locationId);
    await received(receiver, 1);
    await prisma.webhookDelivery.updateMany({
      where: { webhookId },
      data: { retryUntil: new Date(), nextAttemptAt: new Date() },
    });
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.status, soon).toBe('FAILED');
  });

  test('a webhook is disabled when its receiver responds with status 410 (Gone)', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 410;
    await addEntry(key, locationId);
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.status, soon).toBe('FAILED');
    const webhook = await run(key, 'query ($id: ID!) { webhook(id: $id) { enabled disabledAt } }', {
      id: webhookId,
    });
    expect(webhook).toEqual({ enabled: false, disabledAt: expect.any(String) });
    await addEntry(key, locationId);
    expect(await deliveriesOf(key, webhookId)).toHaveLength(1);
    expect(
      await prisma.auditRecord.count({ where: { targetId: webhookId, action: 'webhook.disabled' } }),
    ).toBe(1);
  });

  test('when the URL of a webhook has changed, the status 410 (Gone) of the previous receiver does not disable the webhook', async () => {
    const { key, webhookId, newReceiver, answer } = await newMovedSubscriber(410);
    answer();
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.attempts.length, soon).toBe(1);
    const webhook = await prisma.webhook.findUniqueOrThrow({ where: { id: webhookId } });
    expect(webhook).toMatchObject({ disabledAt: null, failingSince: null });
    await skipRetryDelay(webhookId);
    expect(await received(newReceiver, 1)).toMatchObject([{ type: 'whitelist.created' }]);
  });

  test('when a webhook gets a new URL, the failures of the previous receiver do not count for the new receiver', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 503;
    await addEntry(key, locationId);
    const failingSince = async () =>
      (await prisma.webhook.findUniqueOrThrow({ where: { id: webhookId } })).failingSince;
    await expect.poll(failingSince, soon).not.toBeNull();
    const update =
      'mutation ($id: ID!, $url: String!) { updateWebhook(id: $id, input: { url: $url }) { id } }';
    await run(key, update, { id: webhookId, url: receiver.url });
    expect(await failingSince()).not.toBeNull();
    await run(key, update, { id: webhookId, url: `${receiver.url}/new` });
    expect(await failingSince()).toBeNull();
  });

  test('a webhook is disabled only once when its receiver responds to several concurrent messages with status 410 (Gone)', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 410;
    await Promise.all(Array.from({ length: 6 }, () => addEntry(key, locationId)));
    const statuses = async () =>
      (await deliveriesOf(key, webhookId)).map(({ status, attempts }) => `${status} ${attempts.length}`);
    // The gateway sends at most five messages of a webhook at the same time, and this webhook has six messages. When a
    // client disables the webhook, the gateway cancels the deliveries that have not started. To answer the query of the
    // test, the gateway first reads the deliveries from the database, and then their attempts. If a delivery attempt
    // ends between these two database reads, the response contains the new attempt but the old status of the delivery.
    await expect
      .poll(
        async () => (await statuses()).filter((shown) => !['FAILED 1', 'CANCELLED 0'].includes(shown)),
        soon,
      )
      .toEqual([]);
    expect(
      await prisma.auditRecord.count({ where: { targetId: webhookId, action: 'webhook.disabled' } }),
    ).toBe(1);
  });

  test('disabling a webhook cancels its pending deliveries, and a user can resend these deliveries after enabling the webhook again', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 500;
    await addEntry(key, locationId);
    await expect
      .poll(async () => (await deliveriesOf(key, webhookId))[0]!.attempts.length, soon)
      .toBeGreaterThan(0);
    const enable = (enabled: boolean) =>
      run(
        key,
        'mutation ($id: ID!, $enabled: Boolean) { updateWebhook(id: $id, input: { enabled: $enabled }) { id } }',
        { id: webhookId, enabled },
      );
    await enable(false);
    const [cancelled] = await deliveriesOf(key, webhookId);
    expect(cancelled).toMatchObject({ status: 'CANCELLED', nextAttemptAt: null });
    await enable(true);
    receiver.answer = 200;
    await run(key, 'mutation ($id: ID!) { redeliverWebhook(deliveryId: $id) { status } }', {
      id: cancelled!.id,
    });
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.status, soon).toBe('DELIVERED');
    expect(receiver.messages.at(-1)!.id).toBe(cancelled!.id);
  });

  test('when a client enables a disabled webhook again, the gateway cancels the pending deliveries of the webhook', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 'nothing';
    await addEntry(key, locationId);
    await received(receiver, 1);
    // A disabled webhook can have a pending delivery if a change happened while another request disabled the webhook.
    // To create a pending delivery of a disabled webhook, the test disables the webhook directly in the database. When
    // the test disables the webhook directly in the database, the gateway does not cancel the pending delivery.
    await prisma.webhook.update({ where: { id: webhookId }, data: { disabledAt: new Date() } });
    await run(key, 'mutation ($id: ID!) { updateWebhook(id: $id, input: { enabled: true }) { id } }', {
      id: webhookId,
    });
    expect(await deliveriesOf(key, webhookId)).toMatchObject([{ status: 'CANCELLED' }]);
  });

  test('the gateway does not follow a redirect in the response to a webhook message', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 307;
    await addEntry(key, locationId);
    await expect
      .poll(async () => (await deliveriesOf(key, webhookId))[0]!.attempts, soon)
      .toMatchObject([{ httpStatus: 307 }]);
    expect(receiver.messages).toHaveLength(1);
  });

  test('the gateway waits 15 seconds for the response to a webhook message, and meanwhile delivers the messages of other webhooks', async () => {
    const slow = await newSubscriber(['WHITELIST_CREATED']);
    slow.receiver.answer = 'nothing';
    const quick = await newSubscriber(['WHITELIST_CREATED']);
    await addEntry(slow.key, slow.locationId);
    await received(slow.receiver, 1);
    await addEntry(quick.key, quick.locationId);
    await received(quick.receiver, 1);
    const attempts = async () => (await deliveriesOf(slow.key, slow.webhookId))[0]!.attempts;
    expect(await attempts()).toEqual([]);
    await expect
      .poll(attempts, soon)
      .toMatchObject([{ httpStatus: null, error: 'No answer within 15 seconds' }]);
  });

  test('when an attempt to deliver a webhook message gets no response, the API shows the reason', async () => {
    const { key, locationId, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    await prisma.webhook.update({ where: { id: webhookId }, data: { url: 'http://127.0.0.1:1/' } });
    await addEntry(key, locationId);
    await expect
      .poll(async () => (await deliveriesOf(key, webhookId))[0]!.attempts, soon)
      .toMatchObject([{ httpStatus: null, error: 'connect ECONNREFUSED 127.0.0.1:1' }]);
  });

  test('a webhook delivery attempt fails when the receiver responds with a protocol change (status 101)', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    receiver.answer = 'upgrade';
    await addEntry(key, locationId);
    await expect
      .poll(async () => (await deliveriesOf(key, webhookId))[0]!.attempts, soon)
      .toMatchObject([{ httpStatus: null, error: 'The connection ended without an answer' }]);
  });
});

describe('the webhook outbox', () => {
  const locks = locksOf(gateway);

  test('a newer webhook message has a greater identifier than an older webhook message', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const [row] = await gateway.database.sql.query<{ id: string }>(
        { name: 'test-new-id', text: 'SELECT "new_id"() AS id' },
        [],
      );
      ids.push(row!.id);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect([...ids].sort()).toEqual(ids);
    expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/.test(id))).toBe(true);
    // The first 48 bits of an identifier are its time in milliseconds.
    const timeOf = (id: string) => Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    expect(Math.abs(timeOf(newId()) - timeOf(ids[0]!))).toBeLessThan(60_000);
  });

  test.runIf(testServerUrl)(
    'a change succeeds even when a webhook that subscribes to this change is deleted at the same time',
    async () => {
      const { key, locationId, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
      const commit = await locks.openTransaction('DELETE FROM "Webhook" WHERE id = $1', [webhookId]);
      const added = addEntry(key, locationId);
      await expect.poll(() => locks.waitingConnections()).toBe(1);
      await commit();
      await added;
    },
  );

  test.runIf(testServerUrl)(
    'when several gateway processes send webhook messages, each message is sent only once',
    async () => {
      const others = await Promise.all(
        [1, 2].map(() => openGateway(gateway.config, pino({ level: 'silent' }))),
      );
      afterAll(() => Promise.all(others.map((other) => other.close())));
      const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
      await Promise.all(Array.from({ length: 60 }, () => addEntry(key, locationId)));
      await received(receiver, 60);
      await expect
        .poll(() => prisma.webhookDelivery.count({ where: { webhookId, status: 'DELIVERED' } }), soon)
        .toBe(60);
      expect(new Set(receiver.messages.map(({ id }) => id)).size).toBe(60);
      expect(receiver.messages).toHaveLength(60);
    },
  );
});
