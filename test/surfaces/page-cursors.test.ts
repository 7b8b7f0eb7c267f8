import { expect, test } from 'vitest';
import { newEntry, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

test('the gateway refuses a cursor that does not have the format of the cursors in list responses', async () => {
  const { key, locationId } = await gateway.newTenant();
  for (let entry = 1; entry <= 2; entry += 1) {
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
  }
  const pageAfter = async (after: string | null) => {
    const query = `query ($id: ID!, $after: String) {
      whitelist(locationId: $id, after: $after) { edges { cursor node { id } } } }`;
    return (await gateway.graph(query, { key, variables: { id: locationId, after } })).body;
  };
  const [first, second] = (await pageAfter(null)).data.whitelist.edges;
  expect((await pageAfter(first.cursor)).data.whitelist.edges).toEqual([second]);

  const id: string = first.node.id;
  const encoded = (text: string) => Buffer.from(text).toString('base64url');
  for (const other of [
    id,
    `${first.cursor}=`,
    ` ${first.cursor}`,
    first.cursor.slice(0, -1),
    encoded(id.toUpperCase()),
    encoded(`${id} `),
    encoded('x'.repeat(36)),
    encoded(JSON.stringify({ id })),
    '',
  ]) {
    expect(await pageAfter(other), other).toMatchObject({
      errors: [{ extensions: { code: 'VALIDATION_ERROR' }, message: expect.stringContaining('cursor') }],
    });
  }
});

test.each([
  ['companies', '{ page: companies(ARGUMENTS) { nodes { id } } }'],
  ['a nested list', '{ companies { nodes { page: locations(ARGUMENTS) { nodes { id } } } } }'],
  ['a whitelist', 'query ($id: ID!) { page: whitelist(locationId: $id, ARGUMENTS) { nodes { id } } }'],
  ['a list that starts with the newest item', '{ page: auditLog(ARGUMENTS) { nodes { id } } }'],
])('a list refuses the argument `last` if the argument `first` is also given: %s', async (_, template) => {
  const { key, locationId } = await gateway.newTenant();
  const ask = (given: string) => {
    const query = template.replace('ARGUMENTS', given);
    const variables = query.includes('$id') ? { id: locationId } : undefined;
    return gateway.graph(query, { key, variables });
  };
  const { errors } = (await ask('first: 3, last: 2')).body;
  const message = 'Must not be sent together with first';
  expect(errors).toMatchObject([
    {
      message,
      extensions: {
        code: 'VALIDATION_ERROR',
        details: { field: 'last', value: 2, errors: [{ field: 'last', message }] },
      },
    },
  ]);
  for (const given of ['first: 3, last: null', 'first: null, last: 2']) {
    expect((await ask(given)).body.errors, given).toBeUndefined();
  }
});
