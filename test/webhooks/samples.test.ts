import { describe, expect, test } from 'vitest';
import { enumName, webhookEvents } from '../../src/audit/actions.ts';
import { newId } from '../../src/ids.ts';
import { messageBody, messageRule } from '../../src/webhooks/payload.ts';
import { openTestGateway } from '../support/harness.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway();
const { run, newReader, pull, deliveriesOf, prisma } = webhookTools(gateway);

const send =
  'mutation ($id: ID!, $event: WebhookEvent) { testWebhook(id: $id, event: $event) { id type body } }';

describe('sample messages of webhook events', () => {
  test.each(webhookEvents)(
    'a sample webhook message of the event %s follows the documented schema',
    (type) => {
      const record = { action: 'webhook.tested', createdAt: new Date(), companyId: null };
      const body = messageBody({ ...record, type, locationId: null, targetId: newId(), changes: null });
      const message = JSON.parse(body);
      expect(messageRule(type).parse(message)).toEqual(message);
      expect(message.data.sample).toBe(true);
    },
  );

  test('a webhook gets a sample message even when the webhook is not subscribed to the event of the sample message', async () => {
    const { key, companyId, readerKey, webhookId } = await newReader(['LOCATION_FULL']);
    const sent = await run<{ id: string; type: string; body: string }>(key, send, {
      id: webhookId,
      event: 'WHITELIST_CREATED',
    });
    expect(sent.type).toBe('whitelist.created');
    const [message] = await pull(readerKey, webhookId);
    expect(message).toMatchObject({ id: sent.id, event: 'whitelist.created', body: sent.body });
    expect(JSON.parse(message!.body)).toMatchObject({
      type: 'whitelist.created',
      data: { companyId, sample: true, changes: { plateNumber: '7001' } },
    });
    expect(await deliveriesOf(key, webhookId)).toMatchObject([{ body: sent.body }]);
    const record = await prisma.auditRecord.findFirstOrThrow({
      where: { targetId: webhookId, action: 'webhook.tested' },
    });
    expect(record.changes).toEqual({ event: 'whitelist.created' });
  });

  test('testWebhook sends a message of the type webhook.test when the client omits the argument `event`', async () => {
    const { key, readerKey, webhookId } = await newReader(['LOCATION_FULL']);
    await run(key, send, { id: webhookId });
    const [message] = await pull(readerKey, webhookId);
    expect(JSON.parse(message!.body)).toMatchObject({ type: 'webhook.test', data: { changes: null } });
  });
});

test('the field webhookEvents lists the events to which a client may subscribe webhooks with its API key', async () => {
  const { companyId, key } = await gateway.newTenant();
  const eventsOf = (as: string) => run<{ webhookEvents: string[] }>(as, '{ viewer { webhookEvents } }');
  expect((await eventsOf(key)).webhookEvents).toEqual(webhookEvents.map(enumName));
  const status = await gateway.newKey({ companyIds: [companyId], permissions: ['READ_STATUS'] });
  expect(await eventsOf(status)).toEqual({ webhookEvents: ['LOCATION_FULL', 'LOCATION_AVAILABLE'] });
});
