import { describe, expect, test } from 'vitest';
import { newSlug, openTestGateway } from '../support/harness.ts';
import { surfaceNames, surfaces } from '../support/surfaces.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });

const spaced = [
  ' https://example.com',
  'https://example.com ',
  'https://example.com/a b',
  'https://example.com\n',
  'https://exa\tmple.com',
  '\u00a0https://example.com',
  'https://example.com/\u2028',
  '\ufeffhttps://example.com',
  ' ',
];

describe.each(surfaceNames)('registration of a company whose URLs contain white space, over %s', (name) => {
  const register = async (fields: object) => {
    const key = await gateway.newKey();
    const input = { name: 'Test', slug: newSlug(), address: 'Dubai', ...fields };
    return surfaces[name](
      gateway,
      {
        name: 'register a company',
        rest: { method: 'POST', path: '/register/company', body: input },
        graph: {
          query: 'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
          variables: { input },
        },
      },
      key,
    );
  };

  test.each(['website', 'logo'])('a company is refused when its %s contains white space', async (field) => {
    for (const value of spaced) {
      expect(await register({ [field]: value }), JSON.stringify(value)).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field, value },
      });
    }
    for (const value of ['', null, 'https://example.com/a%20b?c=d#e']) {
      expect((await register({ [field]: value })).code).toBeUndefined();
    }
  });
});

test('a webhook is refused when its url contains white space', async () => {
  const { key } = await gateway.newTenant();
  const create = (url: string) =>
    gateway.graph(
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id url } } }',
      { key, variables: { input: { url, events: ['WHITELIST_CREATED'] } } },
    );
  const { body: created } = await create('http://127.0.0.1:9/hook');
  const { id } = created.data.createWebhook.webhook;
  for (const space of [' ', '\t', '\n', '\u00a0']) {
    for (const url of [`${space}http://127.0.0.1:9/hook`, `http://127.0.0.1:9/${space}hook`]) {
      const { body } = await create(url);
      expect(body.errors[0].extensions).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'url' },
      });
      const updated = await gateway.graph(
        'mutation ($id: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $id, input: $input) { url } }',
        { key, variables: { id, input: { url } } },
      );
      expect(updated.body.errors[0].extensions).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'url' },
      });
    }
  }
});
