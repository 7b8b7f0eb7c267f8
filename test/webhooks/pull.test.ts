import { Webhook as Verifier } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { everyPermission, openTestGateway } from '../support/harness.ts';
import { type MessageShown, webhookTools } from '../support/webhooks.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true', OPERATOR_API_KEY: operator });
const {
  run,
  refused,
  createWebhook,
  newReader,
  newReaderWith,
  newSubscriber,
  pull,
  acknowledge,
  addEntry,
  deliveriesOf,
  received,
  skipRetryDelay,
  soon,
  prisma,
} = webhookTools(gateway);

const create =
  'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { url delivery } } }';
const pullWith = (options: string) =>
  `mutation ($id: ID!) { pullWebhookMessages(webhookId: $id${options}) { id } }`;
const acknowledgeIds =
  'mutation ($id: ID!, $ids: [ID!]!) { acknowledgeWebhookMessages(webhookId: $id, ids: $ids) }';

/** Returns the headers of a webhook message as an object, in the form that HTTP libraries use. */
const headersOf = ({ headers }: MessageShown) =>
  Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]));

describe('webhooks with pull delivery', () => {
  test('a webhook with pull delivery cannot have a URL, and a webhook with push delivery needs a URL', async () => {
    const { key } = await gateway.newTenant();
    const events = ['WHITELIST_CREATED'];
    const url = 'https://203-0-113.example/hook';
    expect(await run(key, create, { input: { delivery: 'PULL', events } })).toEqual({
      webhook: { url: null, delivery: 'PULL' },
    });
    expect(await run(key, create, { input: { url, events } })).toEqual({
      webhook: { url, delivery: 'PUSH' },
    });
    for (const input of [{ delivery: 'PULL', url, events }, { delivery: 'PUSH', events }, { events }]) {
      expect(await refused(key, create, { input })).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'url' },
      });
    }
  });

  test('an update of a pull webhook cannot add a URL, but can change the other fields', async () => {
    const { key, webhookId: id } = await newReader(['WHITELIST_CREATED']);
    const update =
      'mutation ($id: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $id, input: $input) { url events enabled } }';
    expect(
      await refused(key, update, { id, input: { url: 'https://203-0-113.example/hook' } }),
    ).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'url' } });
    expect(await run(key, update, { id, input: { events: ['LOCATION_FULL'], enabled: false } })).toEqual({
      url: null,
      events: ['LOCATION_FULL'],
      enabled: false,
    });
  });
});

describe('messages of a pull webhook', () => {
  test('the webhook message about a change has the same body and headers in pull delivery as in push delivery', async () => {
    const { key, locationId, receiver } = await newSubscriber(['WHITELIST_CREATED']);
    const { secret, webhook } = await createWebhook(key, { delivery: 'PULL', events: ['WHITELIST_CREATED'] });
    const entry = await addEntry(key, locationId);
    await received(receiver, 1);
    const [pushed] = receiver.messages;
    const [pulled] = await pull(key, webhook.id);
    expect(pulled!.body).toBe(pushed!.body);
    expect(JSON.parse(pulled!.body).data.targetId).toBe(entry.id);
    expect(pulled).toMatchObject({
      event: 'whitelist.created',
      createdAt: JSON.parse(pulled!.body).timestamp,
    });
    const headers = headersOf(pulled!);
    expect(headers['webhook-id']).toBe(pulled!.id);
    for (const name of ['content-type', 'user-agent']) expect(headers[name]).toBe(pushed!.headers[name]);
    expect(Object.keys(headers).every((name) => name in pushed!.headers)).toBe(true);
    expect(new Verifier(secret).verify(pulled!.body, headers)).toEqual(JSON.parse(pushed!.body));
  });

  test('when a client pulls a webhook message and does not acknowledge it in time, the message is delivered again with the same id', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    const [first] = await pull(readerKey, webhookId, { leaseSeconds: 10 });
    const leaseMs = Date.parse(first!.leaseEndsAt) - Date.now();
    expect(leaseMs).toBeLessThanOrEqual(10_000 + 1000); // the clocks of the test and of the database may differ by up to a second
    expect(await pull(readerKey, webhookId)).toEqual([]);
    const again = () => pull(readerKey, webhookId);
    await expect.poll(again, soon).toMatchObject([{ id: first!.id, body: first!.body }]);
    expect(await deliveriesOf(key, webhookId)).toMatchObject([
      {
        status: 'PENDING',
        attempts: [
          {
            httpStatus: null,
            error: 'No reader acknowledged the message before the lease ended',
            durationMs: 10_000,
          },
        ],
      },
    ]);
    const failing = await prisma.webhook.findUniqueOrThrow({ where: { id: webhookId } });
    expect(failing.failingSince).not.toBeNull();
  });

  test('pullWebhookMessages never returns a webhook message that a client has acknowledged', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(2);
    const messages = await pull(readerKey, webhookId);
    expect(messages).toHaveLength(2);
    expect(await acknowledge(readerKey, webhookId, [messages[0]!, messages[0]!])).toBe(1);
    expect(await acknowledge(readerKey, webhookId, messages)).toBe(1);
    expect(await acknowledge(readerKey, webhookId, messages)).toBe(0);
    await skipRetryDelay(webhookId);
    expect(await pull(readerKey, webhookId)).toEqual([]);
    expect(await deliveriesOf(key, webhookId)).toMatchObject(
      messages.map(() => ({
        status: 'DELIVERED',
        attempts: [{ httpStatus: null, error: null }],
        nextAttemptAt: null,
      })),
    );
  });

  test('a client can acknowledge a pulled webhook message even after the time for which it reserved the message (the lease) has ended', async () => {
    const { readerKey, webhookId } = await newReaderWith(1);
    const [message] = await pull(readerKey, webhookId);
    await skipRetryDelay(webhookId); // The function skipRetryDelay ends the lease of a pulled message
    expect(await acknowledge(readerKey, webhookId, [message!])).toBe(1);
    expect(await pull(readerKey, webhookId)).toEqual([]);
  });

  test('pullWebhookMessages returns the oldest messages first, and not more messages than the client requested', async () => {
    const { readerKey, webhookId } = await newReaderWith(3);
    const all = [...(await pull(readerKey, webhookId, { first: 2 })), ...(await pull(readerKey, webhookId))];
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort());
    expect(all).toHaveLength(3);
  });

  test('with the id of one webhook, a client can neither pull nor acknowledge the messages of another webhook', async () => {
    const [one, other] = [await newReaderWith(1), await newReaderWith(0)];
    expect(await pull(other.readerKey, other.webhookId)).toEqual([]);
    const messages = await pull(one.readerKey, one.webhookId);
    expect(await acknowledge(other.readerKey, other.webhookId, messages)).toBe(0);
    expect(await acknowledge(one.readerKey, one.webhookId, [{ id: newId() }, { id: 'x' }])).toBe(0);
    expect(await acknowledge(one.readerKey, one.webhookId, messages)).toBe(1);
  });

  test('a webhook message that no client has pulled cannot be acknowledged', async () => {
    const { key, readerKey, webhookId } = await newReaderWith(1);
    const waiting = await deliveriesOf(key, webhookId);
    expect(await acknowledge(readerKey, webhookId, waiting)).toBe(0);
    expect(await pull(readerKey, webhookId)).toMatchObject([{ id: waiting[0]!.id }]);
  });
});

describe('the mutations pullWebhookMessages and acknowledgeWebhookMessages', () => {
  test.each(['first: 0', 'first: 101', 'leaseSeconds: 9', 'leaseSeconds: 3601'])(
    'pullWebhookMessages refuses the argument %s',
    async (argument) => {
      const { readerKey, webhookId } = await newReaderWith(0);
      expect(await refused(readerKey, pullWith(`, ${argument}`), { id: webhookId })).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: argument.split(':')[0] },
      });
    },
  );

  test('one request can pull up to 100 webhook messages and reserve them for an hour, and can acknowledge up to 100 messages', async () => {
    const { readerKey, webhookId } = await newReaderWith(1);
    expect(await pull(readerKey, webhookId, { first: 100, leaseSeconds: 3600 })).toHaveLength(1);
    const hundred = Array.from({ length: 100 }, () => ({ id: newId() }));
    expect(await acknowledge(readerKey, webhookId, hundred)).toBe(0);
    expect(
      await refused(readerKey, acknowledgeIds, {
        id: webhookId,
        ids: [...hundred, { id: newId() }].map(({ id }) => id),
      }),
    ).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'ids' } });
  });

  test('the permission RECEIVE_WEBHOOKS allows an API key to pull and acknowledge webhook messages, but not to manage webhooks', async () => {
    const { companyId, readerKey, webhookId: id } = await newReaderWith(0);
    const without = await gateway.newKey({
      companyIds: [companyId],
      permissions: everyPermission.filter((permission) => permission !== 'RECEIVE_WEBHOOKS'),
    });
    for (const operation of [pullWith(''), acknowledgeIds]) {
      expect(await refused(without, operation, { id, ids: [] })).toMatchObject({ code: 'FORBIDDEN' });
    }
    for (const operation of [
      'query ($id: ID!) { webhook(id: $id) { id } }',
      'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }',
      'mutation ($id: ID!) { testWebhook(id: $id) { id } }',
    ]) {
      expect(await refused(readerKey, operation, { id })).toMatchObject({ code: 'FORBIDDEN' });
    }
  });

  test("pullWebhookMessages and acknowledgeWebhookMessages return NOT_FOUND for a webhook outside the API key's scope", async () => {
    const { webhookId, locationId } = await newReaderWith(0);
    const foreign = await newReaderWith(0);
    const local = await gateway.newKey({ locationIds: [locationId] });
    for (const operation of [pullWith(''), acknowledgeIds]) {
      for (const [key, id] of [
        [foreign.readerKey, webhookId],
        [local, webhookId],
        [foreign.readerKey, newId()],
        [foreign.readerKey, 'x'],
      ] as const) {
        expect(await refused(key, operation, { id, ids: [] })).toMatchObject({
          code: 'NOT_FOUND',
          details: { field: 'webhookId', value: id },
        });
      }
      const pushed = await newSubscriber(['WHITELIST_CREATED']);
      expect(await refused(pushed.key, operation, { id: pushed.webhookId, ids: [] })).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'webhookId', value: pushed.webhookId },
      });
    }
  });

  test("only an operator's API key can pull the messages of an operator's webhook", async () => {
    const { webhook } = await createWebhook(operator, { delivery: 'PULL', events: ['COMPANY_REGISTERED'] });
    expect(await pull(operator, webhook.id)).toEqual([]);
    const { readerKey } = await newReaderWith(0);
    expect(await refused(readerKey, pullWith(''), { id: webhook.id })).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('the mutation pullWebhookMessages costs more when the client requests more messages', async () => {
    const { readerKey, webhookId: id } = await newReaderWith(0);
    const costOf = async (first: number) => {
      const query = `mutation ($id: ID!, $first: Int) { pullWebhookMessages(webhookId: $id, first: $first) {
        id event createdAt headers { name value } body leaseEndsAt } }`;
      const { body } = await gateway.graph(query, {
        key: readerKey,
        variables: { id, first },
        headers: { 'X-Query-Cost': 'true' },
      });
      return body.extensions.cost;
    };
    const [one, hundred] = [await costOf(1), await costOf(100)];
    expect(hundred.requested).toBeGreaterThan(50 * one.requested);
    expect(hundred.points).toBe(1);
  });
});
