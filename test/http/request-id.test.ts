import { describe, expect, test } from 'vitest';
import { newAddress } from '../support/addresses.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

interface Call {
  key?: string;
  headers?: Record<string, string>;
}

/**
 * Functions that send a request to which the gateway responds with an error. Each function returns two parts of the
 * error response: the headers, and the request id in the body.
 */
const errors: [string, (call: Call) => Promise<{ headers: Headers; shown: unknown }>][] = [
  ['REST: an unknown location', (call) => restError('GET', '/locations/none/whitelist', call)],
  ['REST: an unknown path', (call) => restError('GET', '/nothing', call)],
  ['REST: a wrong method', (call) => restError('PATCH', '/health', call)],
  ['REST: a wrong body', (call) => restError('POST', '/register/company', { ...call, body: '{' })],
  ['REST: no key', ({ headers }) => restError('GET', '/health', headers ? { headers } : {})],
  ['the graph: an unknown location', (call) => graphError('{ location(id: "none") { id } }', call)],
  ['the graph: a document that is wrong', (call) => graphError('{ nothing }', call)],
  ['the graph: a syntax error', (call) => graphError('{', call)],
  ['the graph: no key', ({ headers }) => graphError('{ health { status } }', headers ? { headers } : {})],
];

async function restError(method: string, path: string, call: Call & { body?: unknown }) {
  const { headers, body } = await gateway.rest(method, path, call);
  return { headers, shown: body.error.requestId as unknown };
}

async function graphError(query: string, call: Call) {
  const { headers, body } = await gateway.graph(query, call);
  return { headers, shown: body.errors[0].extensions.requestId as unknown };
}

describe.each(errors)('request ids of error responses: %s', (_, ask) => {
  test('the body and the header of an error response contain the same new request id', async () => {
    const key = await gateway.newKey();
    const { headers, shown } = await ask({ key });
    expect(shown).toMatch(uuid);
    expect(headers.get('X-Request-Id')).toBe(shown);
  });

  test('an error response contains the request id that the client sent', async () => {
    const key = await gateway.newKey();
    for (const id of ['gate-7:open.1', 'gate-7:open.2']) {
      const { headers, shown } = await ask({ key, headers: { 'X-Request-Id': id } });
      expect([shown, headers.get('X-Request-Id')]).toEqual([id, id]);
    }
  });
});

describe.each([
  ['GET', '/nothing', 404],
  ['POST', '/nothing', 404],
  ['HEAD', '/nothing', 404],
  ['OPTIONS', '/nothing', 404],
  ['GET', '/assets/nothing.js', 404],
  ['GET', '/apis', 404],
  ['GET', '/livez', 200],
  ['GET', '/readyz', 200],
  ['POST', '/livez', 405],
  ['POST', '/readyz', 405],
  ['GET', '/', 200],
  ['HEAD', '/console', 200],
  ['DELETE', '/console', 405],
  ['GET', '/openapi.json', 200],
  ['GET', '/graphql/schema.graphql', 200],
])('request ids of responses outside REST and GraphQL: %s %s', (method, path, status) => {
  test.each([undefined, 'gate-7:open.1'])(
    'the response has the id that the client sent, or a new request id (sent id: %s)',
    async (id) => {
      const answer = await gateway.app.request(path, {
        method,
        headers: { 'X-Forwarded-For': newAddress(), ...(id && { 'X-Request-Id': id }) },
      });
      const requestId = answer.headers.get('X-Request-Id');
      expect([answer.status, requestId]).toEqual([status, id ?? expect.stringMatching(uuid)]);
      if (status >= 400 && method !== 'HEAD') {
        expect(await answer.json()).toMatchObject({ success: false, error: { requestId } });
      }
    },
  );
});

test.each([
  ['longer than 100 characters', 'a'.repeat(101)],
  ['with a space', 'two words'],
  ['with a quote', 'a"b'],
  ['that is empty', ''],
])('the gateway replaces a received request id %s with a new request id', async (_, id) => {
  const { headers } = await gateway.rest('GET', '/health', { headers: { 'X-Request-Id': id } });
  expect(headers.get('X-Request-Id')).toMatch(uuid);
});

test('the gateway accepts a request id of 100 characters, and stores the id in the usage record', async () => {
  const id = 'b'.repeat(100);
  const key = await gateway.newKey();
  await gateway.rest('GET', '/health', { key, headers: { 'X-Request-Id': id } });
  const { prisma } = gateway.database;
  await expect.poll(() => prisma.usageRecord.count({ where: { requestId: id } })).toBe(1);
});
