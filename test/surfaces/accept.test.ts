import { describe, expect, test } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { everyPermission, newEntry, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

const createDocument = `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: $locationId, input: $input) { id } }`;
const statusDocument =
  'subscription ($locationId: ID!) { locationStatusChanged(locationId: $locationId) { state } }';

describe('the Accept header of a GraphQL request', () => {
  test.each(['text/html', 'image/png', 'multipart/mixed', 'application/json; charset=latin1'])(
    'a mutation does not run when its client accepts only the media type %s, which the gateway cannot send',
    async (accept) => {
      const { key, locationId } = await gateway.newTenant();
      const refused = await gateway.graph(createDocument, {
        key,
        variables: { locationId, input: newEntry() },
        headers: { Accept: accept },
      });
      expect(refused.status).toBe(406);
      expect(refused.body.errors).toMatchObject([
        {
          message: 'Accept must allow application/json or application/graphql-response+json',
          extensions: { code: 'VALIDATION_ERROR' },
        },
      ]);
      const list = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
      expect(list.body.data).toEqual([]);
    },
  );

  test.each([
    'application/json',
    'application/graphql-response+json; charset=utf-8',
    'application/*',
    'text/html, */*; q=0.1',
    'text/event-stream',
  ])('a mutation runs when its Accept header is %s', async (accept) => {
    const { key, locationId } = await gateway.newTenant();
    const input = newEntry();
    const headers = { Accept: accept };
    const { status } = await gateway.graph(createDocument, {
      key,
      variables: { locationId, input },
      headers,
    });
    expect(status).toBe(200);
    const list = await gateway.rest('GET', `/locations/${locationId}/whitelist`, { key });
    expect(list.body.data).toMatchObject([{ plateNumber: input.plateNumber }]);
  });

  test.each([
    ['an invalid variable', { first: 'ten' }, 400],
    ['a missing permission', { first: 1 }, 403],
  ])(
    'the response to a query with %s has status 200 if the client accepts application/json, but an error status if the client accepts application/graphql-response+json',
    async (_, variables, status) => {
      const permissions = status === 403 ? [] : everyPermission;
      const key = await gateway.newKey({ permissions });
      const query = 'query ($first: Int) { companies(first: $first) { nodes { id } } }';
      const statuses = { 'application/graphql-response+json': status, 'application/json': 200 };
      for (const [accept, expected] of Object.entries(statuses)) {
        const answer = await gateway.graph(query, { key, variables, headers: { Accept: accept } });
        expect(answer).toMatchObject({ status: expected, body: { errors: [expect.anything()] } });
        expect(answer.body).not.toHaveProperty('data');
      }
    },
  );

  test.each(['application/json', 'application/graphql-response+json', 'application/json, multipart/mixed'])(
    'a subscription with the Accept header %s is refused, and does not count towards the limit of open subscriptions',
    async (accept) => {
      const { key, locationId } = await gateway.newTenant();
      const variables = { locationId };
      for (let attempt = 0; attempt < 101; attempt += 1) {
        const { status, body } = await gateway.graph(statusDocument, {
          key,
          variables,
          headers: { Accept: accept },
        });
        expect(status).toBe(406);
        expect(body.errors).toMatchObject([
          { message: 'Accept must allow text/event-stream', extensions: { code: 'VALIDATION_ERROR' } },
        ]);
      }
      const stream = await openEventStream(gateway.app, { key, query: statusDocument, variables });
      expect(await stream.next()).toMatchObject({ data: { locationStatusChanged: { state: 'AVAILABLE' } } });
      await stream.cancel();
    },
  );
});
