import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { everyPermission, openTestGateway } from '../support/harness.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const { prisma } = gateway.database;

const target = 'https://203-0-113.example/hook';
const fields = 'id companyId url events enabled disabledAt formerSecretEndsAt';

/**
 * Runs a GraphQL operation with one root field, and returns the value of the field, or the `extensions` of its error.
 */
async function run(key: string, operation: string, variables: Record<string, unknown> = {}) {
  const { body } = await gateway.graph(operation, { key, variables });
  return body.errors?.[0].extensions ?? Object.values(body.data)[0];
}

const create = (key: string, input: Record<string, unknown> = {}) =>
  run(
    key,
    `mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { ${fields} } } }`,
    { input: { url: target, events: ['WHITELIST_CREATED'], ...input } },
  );
const update = (key: string, id: string, input: Record<string, unknown>) =>
  run(
    key,
    `mutation ($id: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $id, input: $input) { ${fields} } }`,
    { id, input },
  );

/** The name and the GraphQL document of every operation on a single webhook. */
const operations: [string, string][] = [
  ['webhook', 'query ($id: ID!) { webhook(id: $id) { id } }'],
  ['updateWebhook', 'mutation ($id: ID!) { updateWebhook(id: $id, input: { enabled: false }) { id } }'],
  ['deleteWebhook', 'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }'],
  ['rotateWebhookSecret', 'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }'],
  ['testWebhook', 'mutation ($id: ID!) { testWebhook(id: $id) { id } }'],
];

describe('operations that manage webhooks', () => {
  test('a client can create a webhook, gets its secret, and can list, change and delete the webhook', async () => {
    const { key, companyId } = await gateway.newTenant();
    const { secret, webhook } = await create(key, {
      events: ['WHITELIST_DELETED', 'PARKING_ENTERED', 'WHITELIST_DELETED'],
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toEqual({
      id: expect.any(String),
      companyId,
      url: target,
      events: ['WHITELIST_DELETED', 'PARKING_ENTERED'],
      enabled: true,
      disabledAt: null,
      formerSecretEndsAt: null,
    });
    const { id } = webhook;
    expect(await run(key, '{ webhooks { totalCount nodes { id } } }')).toEqual({
      totalCount: 1,
      nodes: [{ id }],
    });
    expect(await update(key, id, { enabled: false })).toMatchObject({ enabled: false });
    expect(await update(key, id, { enabled: true, events: ['LOCATION_FULL'] })).toMatchObject({
      enabled: true,
      disabledAt: null,
      events: ['LOCATION_FULL'],
      url: target,
    });
    expect(await run(key, 'mutation ($id: ID!) { deleteWebhook(id: $id) { id } }', { id })).toEqual({ id });
    expect(await run(key, '{ webhooks { totalCount } }')).toEqual({ totalCount: 0 });
  });

  test('a company has at most 20 webhooks, even when several requests create webhooks at the same time', async () => {
    const [tenant, other] = [await gateway.newTenant(), await gateway.newTenant()];
    const created = await Promise.all(Array.from({ length: 25 }, () => create(tenant.key)));
    expect(created.filter(({ webhook }) => webhook)).toHaveLength(20);
    expect(created.filter(({ code }) => code === 'VALIDATION_ERROR')).toHaveLength(5);
    expect(created.find(({ code }) => code)?.details).toMatchObject({
      field: 'companyId',
      value: tenant.companyId,
    });
    expect(await create(other.key)).toHaveProperty('webhook');
  });

  test('neither the database nor the audit log contains the plain text of a webhook secret', async () => {
    const { key } = await gateway.newTenant();
    const { secret, webhook } = await create(key);
    const { id } = webhook;
    const rotated = await run(key, 'mutation ($id: ID!) { rotateWebhookSecret(id: $id) { secret } }', { id });
    const stored = JSON.stringify([
      await prisma.webhook.findUnique({ where: { id } }),
      await prisma.auditRecord.findMany({ where: { targetId: id } }),
    ]);
    for (const shown of [secret, rotated.secret]) {
      expect(stored).not.toContain(shown.slice('whsec_'.length));
    }
  });

  test('every operation that changes or tests a webhook writes an audit record', async () => {
    const { key, companyId } = await gateway.newTenant();
    const { id } = (await create(key)).webhook;
    for (const [, operation] of [operations[4]!, operations[1]!, operations[3]!, operations[2]!]) {
      await run(key, operation, { id });
    }
    const records = await prisma.auditRecord.findMany({ where: { companyId }, orderBy: { id: 'asc' } });
    expect(records.map(({ action, targetId }) => [action, targetId])).toEqual(
      ['created', 'tested', 'updated', 'rotated', 'deleted'].map((action) => [`webhook.${action}`, id]),
    );
  });

  test("createWebhook requires companyId when the scope of the API key contains several companies, but an operator's key may omit companyId", async () => {
    const [one, other] = [await gateway.newCompany(), await gateway.newCompany()];
    const both = await gateway.newKey({ companyIds: [one, other] });
    expect(await create(both)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'companyId', value: null },
    });
    expect(await create(both, { companyId: other })).toMatchObject({ webhook: { companyId: other } });
    expect(await create(operator)).toMatchObject({ webhook: { companyId: null } });
    expect(await create(operator, { companyId: one })).toMatchObject({ webhook: { companyId: one } });
  });

  test("createWebhook responds with FORBIDDEN when the company is unknown or outside the API key's scope", async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const { key: foreign } = await gateway.newTenant();
    for (const id of [companyId, newId(), 'x']) {
      expect(await create(foreign, { companyId: id })).toMatchObject({
        code: 'FORBIDDEN',
        details: { field: 'companyId', value: id },
      });
    }
    const local = await gateway.newKey({ locationIds: [locationId] });
    expect(await create(local)).toMatchObject({ code: 'FORBIDDEN' });
    expect(await create(local, { companyId })).toMatchObject({ code: 'FORBIDDEN' });
  });

  test.each([
    ['an address of this machine', { url: 'https://127.0.0.1/hook' }, 'url'],
    ['an address of a private network', { url: 'https://10.1.2.3/hook' }, 'url'],
    ['an address of a cloud metadata service', { url: 'https://169.254.169.254/' }, 'url'],
    ['plain http', { url: 'http://203-0-113.example/' }, 'url'],
    ['an invalid address', { url: 'hook' }, 'url'],
    ['an address of 2001 characters', { url: target.padEnd(2001, 'x') }, 'url'],
    ['no event', { events: [] }, 'events'],
    ['an unknown event', { events: ['EVERYTHING'] }, 'events.0'],
  ])('createWebhook and updateWebhook are refused when the input has %s', async (_, input, field) => {
    const { key } = await gateway.newTenant();
    const { id } = (await create(key)).webhook;
    for (const answer of [await create(key, input), await update(key, id, input)]) {
      expect(answer).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } });
    }
  });

  test('updateWebhook is refused when its input contains no field', async () => {
    const { key } = await gateway.newTenant();
    const { id } = (await create(key)).webhook;
    expect(await update(key, id, {})).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await update(key, id, { url: null })).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  test.each([-1, 30 * 86_400 + 1])(
    'the rotation of a webhook secret is refused when the grace period is %s seconds',
    async (graceSeconds) => {
      const { key } = await gateway.newTenant();
      const { id } = (await create(key)).webhook;
      expect(
        await run(
          key,
          'mutation ($id: ID!, $graceSeconds: Int) { rotateWebhookSecret(id: $id, graceSeconds: $graceSeconds) { secret } }',
          { id, graceSeconds },
        ),
      ).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'graceSeconds' } });
    },
  );

  test('testWebhook is refused for a disabled webhook', async () => {
    const { key } = await gateway.newTenant();
    const { id } = (await create(key)).webhook;
    await update(key, id, { enabled: false });
    expect(await run(key, operations[4]![1], { id })).toMatchObject({
      code: 'CONFLICT',
      details: { field: 'id', value: id },
    });
  });

  test.each(operations)(
    "the operation %s needs the permission MANAGE_WEBHOOKS, and returns NOT_FOUND for a webhook outside the API key's scope",
    async (_, operation) => {
      const { key, companyId, locationId } = await gateway.newTenant();
      const { id } = (await create(key)).webhook;
      const without = await gateway.newKey({
        companyIds: [companyId],
        permissions: everyPermission.filter((permission) => permission !== 'MANAGE_WEBHOOKS'),
      });
      expect(await run(without, operation, { id })).toMatchObject({ code: 'FORBIDDEN' });
      const { key: foreign } = await gateway.newTenant();
      const local = await gateway.newKey({ locationIds: [locationId] });
      for (const [as, unknown] of [
        [foreign, id],
        [local, id],
        [key, newId()],
        [key, 'x'],
      ] as const) {
        expect(await run(as, operation, { id: unknown })).toMatchObject({
          code: 'NOT_FOUND',
          details: { field: 'id', value: unknown },
        });
      }
      expect(await prisma.webhook.findUnique({ where: { id } })).toMatchObject({ disabledAt: null });
    },
  );

  test('the list of webhooks contains no webhooks of other companies or of operators', async () => {
    const { key } = await gateway.newTenant();
    await create((await gateway.newTenant()).key);
    await create(operator);
    expect(await run(key, '{ webhooks { totalCount nodes { id } } }')).toEqual({ totalCount: 0, nodes: [] });
  });

  test("an API key cannot resend the deliveries of a webhook outside the key's scope", async () => {
    const { key } = await gateway.newTenant();
    const { id } = (await create(key)).webhook;
    const { id: deliveryId } = await run(key, operations[4]![1], { id });
    const redeliver = 'mutation ($id: ID!) { redeliverWebhook(deliveryId: $id) { id } }';
    const { key: foreign } = await gateway.newTenant();
    for (const [as, unknown] of [
      [foreign, deliveryId],
      [key, newId()],
      [key, 'x'],
    ] as const) {
      expect(await run(as, redeliver, { id: unknown })).toMatchObject({
        code: 'NOT_FOUND',
        details: { field: 'deliveryId', value: unknown },
      });
    }
  });
});
