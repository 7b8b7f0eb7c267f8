import { expect, test } from 'vitest';
import { newEntry, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

test('a list accepts only cursors in the format that lists return', async () => {
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
