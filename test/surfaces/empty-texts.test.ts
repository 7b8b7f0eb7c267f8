import { describe, expect, test } from 'vitest';
import { newSlug, openTestGateway } from '../support/harness.ts';
import { surfaceNames, surfaces } from '../support/surfaces.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { prisma } = gateway.database;

const address = 'http://127.0.0.1:9/hook';

/** Sends a mutation with the given input, and returns its result or the `extensions` of its error. */
async function send(key: string, mutation: string, type: string, input: object, id?: string) {
  const [declared, passed] = id ? ['$id: ID!, ', 'id: $id, '] : ['', ''];
  const result = mutation === 'createWebhook' ? '{ webhook { id companyId } }' : '{ id }';
  const { body } = await gateway.graph(
    `mutation (${declared}$input: ${type}!) { ${mutation}(${passed}input: $input) ${result} }`,
    { key, variables: { id, input } },
  );
  return body.errors?.[0].extensions ?? body.data[mutation];
}

describe('empty texts in optional fields', () => {
  test('a webhook with an empty url is refused', async () => {
    const { key } = await gateway.newTenant();
    const events = ['WHITELIST_CREATED'];
    const { webhook } = await send(key, 'createWebhook', 'CreateWebhookInput', { url: address, events });
    const refused = { code: 'VALIDATION_ERROR', details: { field: 'url', value: '' } };
    expect(await send(key, 'createWebhook', 'CreateWebhookInput', { url: '', events })).toMatchObject(
      refused,
    );
    expect(await send(key, 'updateWebhook', 'UpdateWebhookInput', { url: '' }, webhook.id)).toMatchObject(
      refused,
    );
    expect(
      await send(key, 'updateWebhook', 'UpdateWebhookInput', { url: '', enabled: true }, webhook.id),
    ).toMatchObject(refused);
    expect(await prisma.webhook.findUniqueOrThrow({ where: { id: webhook.id } })).toMatchObject({
      url: address,
    });
  });

  test.each([{ unrestricted: true }, { unrestricted: false }])(
    "a webhook with an empty companyId is refused, whatever the scope of the API key (operator's key: $unrestricted)",
    async ({ unrestricted }) => {
      const { companyId } = await gateway.newTenant();
      const key = await gateway.newKey(unrestricted ? { unrestricted } : { companyIds: [companyId] });
      const input = { url: address, events: ['WHITELIST_CREATED'] };
      expect(
        await send(key, 'createWebhook', 'CreateWebhookInput', { ...input, companyId: '' }),
      ).toMatchObject({ code: 'FORBIDDEN', details: { field: 'companyId', value: '' } });
      for (const omitted of [{}, { companyId: null }]) {
        expect(
          await send(key, 'createWebhook', 'CreateWebhookInput', { ...input, ...omitted }),
        ).toMatchObject({
          webhook: { companyId: unrestricted ? null : companyId },
        });
      }
    },
  );

  test.each(surfaceNames)('a location with an empty companyId is refused over %s', async (name) => {
    const { key, companyId } = await gateway.newTenant();
    const create = (fields: object) => {
      const input = { name: 'Gate', slug: newSlug(), ...fields };
      return surfaces[name](
        gateway,
        {
          name: 'create a location',
          rest: { method: 'POST', path: '/locations', body: input },
          graph: {
            query:
              'mutation ($input: CreateLocationInput!) { createLocation(input: $input) { id companyId } }',
            variables: { input },
          },
        },
        key,
      );
    };
    expect(await create({ companyId: '' })).toMatchObject({
      code: 'FORBIDDEN',
      details: { field: 'companyId', value: '' },
    });
    expect((await create({ companyId: null })).code).toBeUndefined();
    expect(await prisma.location.count({ where: { companyId } })).toBe(2);
  });
});
