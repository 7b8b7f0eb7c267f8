import { describe, expect, test } from 'vitest';
import { everyPermission, openTestGateway } from '../support/harness.ts';
import { startReceiver } from '../support/receiver.ts';
import { webhookTools } from '../support/webhooks.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true', OPERATOR_API_KEY: operator });
const {
  run,
  refused,
  createWebhook,
  newSubscriber,
  addEntry,
  deliveriesOf,
  received,
  skipRetryDelay,
  soon,
  prisma,
} = webhookTools(gateway);
const { sql } = gateway.database;

const create =
  'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id locationIds } } }';
const update =
  'mutation ($id: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $id, input: $input) { id locationIds events enabled } }';
const recover =
  'mutation ($id: ID!, $since: DateTime!, $until: DateTime) { recoverWebhook(id: $id, since: $since, until: $until) { deliveries } }';

/**
 * Sets the time of the first failure of a webhook (`failingSince`) to the given number of days before the current time.
 */
const failingForDays = (id: string, days: number) =>
  sql.query(
    {
      name: 'test-failing-since',
      text: 'UPDATE "Webhook" SET "failingSince" = now() - make_interval(days => $2) WHERE id = $1',
    },
    [id, days],
  );

const redeliver = 'mutation ($deliveryId: ID!) { redeliverWebhook(deliveryId: $deliveryId) { id } }';

const attemptsOf = (webhookId: string) => prisma.webhookAttempt.count({ where: { delivery: { webhookId } } });

describe('webhooks with a receiver that fails', () => {
  test('after a failure of its receiver, a webhook shows the time of the first failure, and hides it when the receiver accepts a message again', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const failingSince = async () =>
      (
        await run<{ failingSince: string | null }>(
          key,
          'query ($id: ID!) { webhook(id: $id) { failingSince } }',
          { id: webhookId },
        )
      ).failingSince;
    receiver.answer = 500;
    await addEntry(key, locationId);
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(1);
    const first = await failingSince();
    expect(first).not.toBeNull();
    await skipRetryDelay(webhookId);
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(2);
    expect(await failingSince()).toBe(first);
    receiver.answer = 204;
    await skipRetryDelay(webhookId);
    await expect.poll(failingSince, soon).toBeNull();
  });

  test('a webhook is disabled after five days of failures, and the other webhooks of its company get a message about this change', async () => {
    const { key, companyId, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const told = await startReceiver();
    await createWebhook(key, { url: told.url, events: ['WEBHOOK_DISABLED'] });
    const foreign = await newSubscriber(['WEBHOOK_DISABLED']);
    receiver.answer = 500;
    await addEntry(key, locationId);
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(1);
    await failingForDays(webhookId, 4);
    await skipRetryDelay(webhookId);
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(2);
    expect(await deliveriesOf(key, webhookId)).toMatchObject([{ status: 'PENDING' }]);
    await failingForDays(webhookId, 5);
    await skipRetryDelay(webhookId);
    const [message] = await received(told, 1);
    expect(message).toMatchObject({
      type: 'webhook.disabled',
      data: {
        companyId,
        targetId: webhookId,
        changes: { reason: 'FAILING', httpStatus: 500, failingSince: expect.stringMatching(/Z$/) },
      },
    });
    expect(await deliveriesOf(key, webhookId)).toMatchObject([{ status: 'FAILED' }]);
    await received(foreign.receiver, 0);
    expect(await deliveriesOf(foreign.key, foreign.webhookId)).toEqual([]);
    await run(key, update, { id: webhookId, input: { enabled: true } });
    await addEntry(key, locationId);
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(4);
    expect(await run(key, 'query ($id: ID!) { webhook(id: $id) { enabled } }', { id: webhookId })).toEqual({
      enabled: true,
    });
  });

  test("when the receiver of an operator's webhook sends status 410, the gateway disables the webhook, and the audit record of this change contains no company id", async () => {
    const subscriber = await newSubscriber(['WHITELIST_CREATED'], operator);
    const { key, locationId, companyId, receiver, webhookId } = subscriber;
    receiver.answer = 410;
    await addEntry(key, locationId);
    const records = () =>
      prisma.auditRecord.findMany({ where: { targetId: webhookId, action: 'webhook.disabled' } });
    await expect.poll(records, soon).toMatchObject([{ companyId: null, changes: { reason: 'GONE' } }]);
    expect(await prisma.auditRecord.count({ where: { companyId, action: 'webhook.disabled' } })).toBe(0);
  });
});

describe('the mutation recoverWebhook', () => {
  test('recoverWebhook resends exactly the failed deliveries of the given period', async () => {
    const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    await addEntry(key, locationId);
    await expect.poll(async () => (await deliveriesOf(key, webhookId))[0]!.status, soon).toBe('DELIVERED');
    const since = new Date().toISOString();
    receiver.answer = 500;
    await addEntry(key, locationId);
    await addEntry(key, locationId);
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(3);
    await run(key, update, { id: webhookId, input: { enabled: false } });
    expect(await refused(key, recover, { id: webhookId, since })).toMatchObject({ code: 'CONFLICT' });
    await run(key, update, { id: webhookId, input: { enabled: true } });
    const until = new Date(Date.now() + 1000).toISOString();
    receiver.answer = 204;
    expect(await run(key, recover, { id: webhookId, since: '2020-01-01T00:00:00Z', until: since })).toEqual({
      deliveries: 0,
    });
    expect(await run(key, recover, { id: webhookId, since, until })).toEqual({ deliveries: 2 });
    await expect
      .poll(async () => (await deliveriesOf(key, webhookId)).map(({ status }) => status), soon)
      .toEqual(['DELIVERED', 'DELIVERED', 'DELIVERED']);
    expect(await attemptsOf(webhookId)).toBe(5);
    expect(await run(key, recover, { id: webhookId, since })).toEqual({ deliveries: 0 });
  });

  test("recoverWebhook refuses a period that ends before its start, and a webhook outside the API key's scope", async () => {
    const { key, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const since = '2026-01-02T00:00:00.000Z';
    expect(await refused(key, recover, { id: webhookId, since, until: since })).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'until', value: since },
    });
    const { key: foreign } = await gateway.newTenant();
    expect(await refused(foreign, recover, { id: webhookId, since })).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('recoverWebhook refuses a period that starts in the future', async () => {
    const { key, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const since = new Date(Date.now() + 3_600_000).toISOString();
    const later = new Date(Date.now() + 7_200_000).toISOString();
    for (const until of [undefined, later, '2026-01-02T00:00:00.000Z']) {
      expect(await refused(key, recover, { id: webhookId, since, until }), until).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'since', value: since, errors: [{ message: 'Must be in the past' }] },
      });
    }
  });
});

describe('webhooks that are limited to some locations', () => {
  test('a webhook that is limited to locations gets only messages about its locations', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const other = await gateway.newLocation(companyId);
    const receiver = await startReceiver();
    const input = { url: receiver.url, events: ['WHITELIST_CREATED', 'WEBHOOK_DISABLED'] };
    const { webhook } = await run<{ webhook: { id: string; locationIds: string[] } }>(key, create, {
      input: { ...input, locationIds: [other, other] },
    });
    expect(webhook.locationIds).toEqual([other]);
    await addEntry(key, locationId);
    await addEntry(key, other);
    expect(await received(receiver, 1)).toMatchObject([{ data: { locationId: other } }]);
    expect(await deliveriesOf(key, webhook.id)).toHaveLength(1);
    await run(key, update, { id: webhook.id, input: { locationIds: [] } });
    await addEntry(key, locationId);
    expect((await received(receiver, 2))[1]).toMatchObject({ data: { locationId } });
  });

  test('a webhook cannot be limited to a location of another company', async () => {
    const [tenant, foreign] = [await gateway.newTenant(), await gateway.newTenant()];
    const both = await gateway.newKey({ companyIds: [tenant.companyId, foreign.companyId] });
    const receiver = await startReceiver();
    const input = { url: receiver.url, events: ['WHITELIST_CREATED'], companyId: tenant.companyId };
    const { webhook } = await createWebhook(tenant.key, input);
    for (const key of [tenant.key, both]) {
      for (const [operation, variables] of [
        [create, { input: { ...input, locationIds: [foreign.locationId] } }],
        [update, { id: webhook.id, input: { locationIds: [tenant.locationId, foreign.locationId] } }],
      ] as const) {
        expect(await refused(key, operation, variables)).toMatchObject({
          code: 'NOT_FOUND',
          details: { value: foreign.locationId },
        });
      }
    }
  });
});

describe('API keys without the permission to read a webhook event', () => {
  test('an API key without the permission to read a webhook event can neither subscribe a webhook to the event nor read messages about the event', async () => {
    const { companyId, key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const without = await gateway.newKey({
      companyIds: [companyId],
      permissions: everyPermission.filter((permission) => permission !== 'READ_WHITELIST'),
    });
    const input = { url: receiver.url, events: ['WHITELIST_CREATED'] };
    const expected = { code: 'FORBIDDEN', details: { field: 'events', value: 'WHITELIST_CREATED' } };
    expect(await refused(without, create, { input })).toMatchObject(expected);
    for (const change of [
      { url: `${receiver.url}/mine` },
      { events: ['LOCATION_FULL', 'WHITELIST_CREATED'] },
      { locationIds: [locationId] },
      { enabled: true },
    ])
      expect(await refused(without, update, { id: webhookId, input: change })).toMatchObject(expected);
    await addEntry(key, locationId);
    await received(receiver, 1);
    expect(await deliveriesOf(without, webhookId)).toMatchObject([{ type: 'whitelist.created', body: null }]);
    expect(await deliveriesOf(key, webhookId)).toMatchObject([{ body: receiver.messages[0]!.body }]);
    expect(await run(without, update, { id: webhookId, input: { enabled: false } })).toMatchObject({
      enabled: false,
    });
  });

  test('an API key without the permission to read a webhook event cannot redirect the messages about this event to another URL', async () => {
    const { companyId, key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const without = await gateway.newKey({
      companyIds: [companyId],
      permissions: everyPermission.filter((permission) => permission !== 'READ_WHITELIST'),
    });
    const url = `${receiver.url}/mine`;
    receiver.answer = 500;
    await addEntry(key, locationId);
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(1);
    const [delivery] = await deliveriesOf(key, webhookId);
    const forbidden = (field: string) => ({
      code: 'FORBIDDEN',
      details: { field, value: 'WHITELIST_CREATED' },
    });

    expect(
      await refused(without, update, { id: webhookId, input: { url, events: ['LOCATION_FULL'] } }),
    ).toMatchObject(forbidden('events'));
    await run(without, update, { id: webhookId, input: { events: ['LOCATION_FULL'] } });
    expect(await refused(without, update, { id: webhookId, input: { url } })).toMatchObject(forbidden('url'));
    expect(await refused(without, redeliver, { deliveryId: delivery!.id })).toMatchObject(
      forbidden('deliveryId'),
    );
    const since = '2026-01-01T00:00:00.000Z';
    expect(await run(without, recover, { id: webhookId, since })).toEqual({ deliveries: 0 });
    expect(await attemptsOf(webhookId)).toBe(1);
    expect(await run(key, recover, { id: webhookId, since })).toEqual({ deliveries: 1 });
    await expect.poll(() => attemptsOf(webhookId), soon).toBe(2);

    receiver.answer = 204;
    await skipRetryDelay(webhookId);
    await expect.poll(() => deliveriesOf(key, webhookId), soon).toMatchObject([{ status: 'DELIVERED' }]);
    await run(without, update, { id: webhookId, input: { url } });
  });
});
