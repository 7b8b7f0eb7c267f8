import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { everyPermission, openTestGateway } from '../support/harness.ts';
import { locksOf } from '../support/locks.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { webhookTools } from '../support/webhooks.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { newSubscriber, addEntry, received, run, refused, prisma } = webhookTools(gateway);
const { openTransaction, waitingConnections } = locksOf(gateway);

/**
 * GraphQL operations that change one webhook or its deliveries. The test sends all these operations at the same time,
 * and sends some of the operations twice.
 */
const changes = [
  'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }',
  'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }',
  'mutation ($id: ID!) { updateWebhook(id: $id, input: { enabled: false }) { id } }',
  'mutation ($id: ID!) { updateWebhook(id: $id, input: { enabled: true, events: [WHITELIST_CREATED] }) { id } }',
  'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }',
  'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }',
  'mutation ($id: ID!) { testWebhook(id: $id) { id } }',
  'mutation ($id: ID!, $deliveryId: ID!) { redeliverWebhook(deliveryId: $deliveryId) { id } updateWebhook(id: $id, input: { enabled: true }) { id } }',
  'mutation ($id: ID!) { recoverWebhook(id: $id, since: "2026-01-01T00:00:00Z") { deliveries } }',
];

const shuffled = <Item>(items: readonly Item[]) =>
  items
    .map((item) => ({ item, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);

const rounds = 12;

describe.runIf(testServerUrl)('concurrent changes of one webhook', () => {
  test('when concurrent requests change and delete one webhook, exactly one audit record reports the deletion', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const { key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
      if (round % 2 === 1) receiver.answer = 410;
      await addEntry(key, locationId);
      if (round % 3 === 0) await received(receiver, 1);
      const { id: deliveryId } = await prisma.webhookDelivery.findFirstOrThrow({ where: { webhookId } });
      const answers = await Promise.all([
        ...shuffled(changes).map((operation) =>
          gateway.graph(operation, { key, variables: { id: webhookId, deliveryId } }),
        ),
        addEntry(key, locationId),
        addEntry(key, locationId),
      ]);
      const errors = answers.flatMap((answer) => answer.body?.errors ?? []);
      const codes = new Set(errors.map((error: { extensions: { code: string } }) => error.extensions.code));
      expect([...codes].filter((code) => code !== 'NOT_FOUND' && code !== 'CONFLICT')).toEqual([]);
      expect(await prisma.webhook.findUnique({ where: { id: webhookId } })).toBeNull();
      const records = await prisma.auditRecord.findMany({ where: { targetId: webhookId } });
      expect(records.filter(({ action }) => action === 'webhook.deleted')).toHaveLength(1);
    }
  });

  test('concurrent rotations of a webhook secret all succeed: each rotation returns a different secret and writes one audit record', async () => {
    const { key, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const operation = 'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }';
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => gateway.graph(operation, { key, variables: { id: webhookId } })),
    );
    expect(answers.filter(({ body }) => body.errors)).toEqual([]);
    expect(new Set(answers.map(({ body }) => body.data.rotateWebhookSecret.secret)).size).toBe(8);
    const records = await prisma.auditRecord.count({
      where: { targetId: webhookId, action: 'webhook.rotated' },
    });
    expect(records).toBe(8);
  });

  test('an API key without read access to an event cannot change the URL of a webhook while a transaction adds a message about this event', async () => {
    const { companyId, key, locationId, receiver, webhookId } = await newSubscriber(['WHITELIST_CREATED']);
    const without = await gateway.newKey({
      companyIds: [companyId],
      permissions: everyPermission.filter((permission) => permission !== 'READ_WHITELIST'),
    });
    const update =
      'mutation ($id: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $id, input: $input) { id } }';
    const commit = await openTransaction(
      `INSERT INTO "AuditRecord" (id, action, "targetId", "companyId", "locationId", "requestId")
       VALUES ($1, 'whitelist.created', $1, $2, $3, 'test')`,
      [newId(), companyId, locationId],
    );
    await run(key, update, { id: webhookId, input: { events: ['LOCATION_FULL'] } });
    const moved = refused(without, update, { id: webhookId, input: { url: `${receiver.url}/mine` } });
    await expect.poll(() => waitingConnections('FOR UPDATE')).toBe(1);
    await commit();
    expect(await moved).toMatchObject({ code: 'FORBIDDEN', details: { field: 'url' } });
  });
});

test('every operation that changes a webhook returns NOT_FOUND for an unknown webhook', async () => {
  const { key } = await gateway.newTenant();
  for (const operation of changes) {
    const { body } = await gateway.graph(operation, {
      key,
      variables: { id: newId(), deliveryId: newId() },
    });
    expect(body.errors[0].extensions.code).toBe('NOT_FOUND');
  }
});
