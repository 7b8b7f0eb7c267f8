import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { compileQuery } from 'graphql-jit';
import { pino } from 'pino';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Permission } from '../../prisma/generated/client/enums.ts';
import { schema } from '../../schema/index.ts';
import { type Answer as HttpAnswer, respond } from '../../src/http/responses/response.ts';
import type { RequestState } from '../../src/http/request-state.ts';
import type { Context } from '../../src/context.ts';
import { locationNotFound, rateLimitExceeded } from '../../src/errors/error-table.ts';
import { createGraphEndpoint } from '../../src/graphql/endpoint.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import {
  createGraphExecutor,
  type GraphExecutor,
  type GraphRequestContext,
} from '../../src/graphql/executor.ts';
import type { Compile } from '../../src/graphql/run-operation.ts';
import { newId } from '../../src/ids.ts';

// The tests of this file send requests without API keys to a GraphQL endpoint with the real schema. Fake objects
// (stores) replace the code that reads the database. Each fake store counts how often the resolvers call the store.

/** Casts a partial object to its complete type, so that a test can omit properties that it does not need. */
const stub = <T>(parts: object) => parts as T;

const at = new Date('2026-01-31T08:00:00Z');
const company = {
  id: newId(),
  name: 'Marina',
  slug: 'marina',
  address: 'Dubai',
  createdAt: at,
  updatedAt: at,
};
const rows = Array.from({ length: 100 }, (_, index) => ({
  id: newId(),
  companyId: company.id,
  name: `Location ${index}`,
  slug: `location-${index}`,
  address: null,
  capacity: index === 0 ? null : 10,
  timezone: 'UTC',
  createdAt: at,
  updatedAt: at,
}));

const store = vi.fn((answer: unknown) => Promise.resolve(answer));
const compile = vi.fn<Compile>(compileQuery);
const charge = vi.fn((_points: number) => Promise.resolve());
const state: GraphRequestContext['state'] = { operation: 'unknown' };
/** The request id that every response in the tests of this file contains. */
const requestId = 'request-1';
const respondTo = (answer: HttpAnswer) => respond(answer, stub<RequestState>({ requestId }));
const logged = vi.fn((_line: string) => {});
const log = pino({ level: 'error' }, { write: logged });

const context = (permissions: readonly Permission[] = Object.values(Permission)): GraphRequestContext => ({
  services: stub<Context['services']>({
    locations: {
      inScopeOf: () => ({
        page: ({ limit }: { limit: number }) => store(rows.slice(0, limit)),
        count: () => store(rows.length),
      }),
      async find(_key: unknown, id: string) {
        if (id === rows[9]!.id) throw new Error('lost the database');
        const found = await store(rows.find((row) => row.id === id));
        if (!found) throw locationNotFound(id);
        return found;
      },
      status: (locationId: string) => store({ locationId, state: 'AVAILABLE', available: 7 }),
    },
    companies: { ownerOf: () => store(company) },
  }),
  key: stub<Context['key']>({ id: newId(), permissions: new Set(permissions), unrestricted: true }),
  requestId,
  log,
  cutConnection: () => false,
  holdBytes: () => {},
  charge,
  state,
  showsCost: false,
  reauthenticate: () => Promise.resolve(stub<Context['key']>({})),
  onKeysChanged: () => () => undefined,
  stopping: new AbortController().signal,
});

interface Answer {
  status: number;
  headers: Headers;
  body: {
    data?: unknown;
    errors?: { message: string; extensions: Record<string, unknown>; locations?: unknown }[];
  };
}

const newEndpoint = (of = schema) =>
  createGraphEndpoint(
    of,
    createGraphExecutor(of, compile),
    createMetrics({ limiter: { backend: 'memory' } }),
  );

const send = async (request: Request, endpoint = newEndpoint(), as = context()) => {
  const response = await endpoint.handle(request, as, respondTo);
  return { status: response.status, headers: response.headers, body: await response.json() } as Answer;
};

const post = (body: unknown, headers: Record<string, string> = {}) =>
  new Request('http://gateway/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const get = (parameters: Record<string, string>) =>
  new Request(`http://gateway/graphql?${new URLSearchParams(parameters)}`);

beforeEach(() => {
  delete state.errorCode;
  delete state.errorPath;
  vi.clearAllMocks();
});

describe('requests that are not valid GraphQL', () => {
  const query = '{ health { status } }';
  test.each([
    ['malformed JSON', post('{"query": tru'), 400],
    ['an empty body', post(''), 400],
    ['null', post('null'), 400],
    ['an array', post(`[${JSON.stringify({ query })}]`), 400],
    ['a string', post('"query"'), 400],
    ['no query', post({}), 400],
    ['variables that are no object', post({ query, variables: [] }), 400],
    ['an unknown parameter', post({ query, querry: query }), 400],
    ['an unknown operation', post({ query: `query A ${query}`, operationName: 'B' }), 400],
    ['a GET without a query', get({}), 400],
    ['a GET with variables that are not JSON', get({ query, variables: '{{' }), 400],
    ['a GET with a mutation', get({ query: 'mutation { revokeApiKey(id: "x") { id } }' }), 405],
    ['another method', new Request('http://gateway/graphql', { method: 'PUT', body: '{}' }), 405],
    ['plain text', post('{}', { 'Content-Type': 'text/plain' }), 415],
    ['a bare document', post(query, { 'Content-Type': 'application/graphql' }), 415],
    ['a form', post('query=x', { 'Content-Type': 'application/x-www-form-urlencoded' }), 415],
    ['an unknown response type', post({ query }, { Accept: 'image/png' }), 406],
  ])(
    'the response to an invalid GraphQL request has an error code, and no message of a JSON or GraphQL parser: %s',
    async (_, request, status) => {
      const answer = await send(request);
      expect(answer.status).toBe(status);
      expect(answer.body.errors).toEqual([
        { message: expect.any(String), extensions: { code: 'VALIDATION_ERROR', requestId } },
      ]);
      expect(answer.body.errors![0]!.message).not.toMatch(/token|position|property name|end of/i);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
      expect(store).not.toHaveBeenCalled();
    },
  );

  test('when a GraphQL request has an unsupported HTTP method, the header Allow of the response lists the allowed methods', async () => {
    const options = new Request('http://gateway/graphql', {
      method: 'OPTIONS',
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect((await send(options)).headers.get('Allow')).toBe('GET, POST');
    const change = get({ query: 'mutation { revokeApiKey(id: "x") { id } }' });
    expect((await send(change)).headers.get('Allow')).toBe('POST');
  });
});

describe('invalid GraphQL documents', () => {
  test('the response to an invalid GraphQL document contains the line and column of the error', async () => {
    const { body } = await send(post({ query: '{\n  helth { status } }' }));
    expect(body.errors).toEqual([
      {
        message: 'Cannot query field "helth" on type "Query". Did you mean "health"?',
        locations: [{ line: 2, column: 3 }],
        extensions: { code: 'VALIDATION_ERROR', requestId },
      },
    ]);
  });

  test.each([
    ['location(id: { a: 1 }) { id }', 'id', { a: 1 }],
    ['locations(first: "ten") { totalCount }', 'first', 'ten'],
    [
      'plateAccess(locationId: "x", plate: { plateType: "DXB", plateCode: 7, plateNumber: "7" }) { allowed }',
      'plateCode',
      7,
    ],
    [
      'plateAccess(locationId: "x", plate: { plateType: "DXB", plateNumber: "7" }) { allowed }',
      'plateCode',
      null,
    ],
  ])(
    'the error about an invalid value in a GraphQL document names the field, like the error about an invalid variable: %s',
    async (selection, field, value) => {
      const { body } = await send(post({ query: `{ ${selection} }` }));
      const [error] = body.errors!;
      expect(error!.extensions).toEqual({
        requestId,
        code: 'VALIDATION_ERROR',
        details: { field, value, errors: [{ field, message: error!.message }] },
      });
    },
  );
});

describe('GraphQL variables that exceed the limits', () => {
  const endpoint = newEndpoint();
  const query = `mutation ($entries: [WhitelistEntryInput!]!) {
    importWhitelistEntries(locationId: "x", entries: $entries) { total } }`;
  const importOf = (entries: string) =>
    `{"query":${JSON.stringify(query)},"variables":{"entries":${entries}}}`;
  const ofId = (id: string) =>
    `{"query":"query ($id: ID!) { location(id: $id) { id } }","variables":{"id":${id}}}`;
  const levels = 200_000;

  test.each([
    ['nesting', ofId('['.repeat(levels) + ']'.repeat(levels)), /40 levels/],
    ['faults', importOf(`[${Array(10_000).fill('{}').join()}]`), /more than 100 faults/],
  ])(
    'when GraphQL variables exceed the limits, the response has one short error, and the operation does not run: %s',
    async (_, body, message) => {
      // The gateway compiles a GraphQL document at the third run of the document.
      for (let time = 0; time < 3; time += 1) {
        const { status, body: answer } = await send(post(body), endpoint);
        expect([status, answer.errors?.length, answer.data]).toEqual([expect.any(Number), 1, undefined]);
        expect(answer.errors![0]!.message).toMatch(message);
        expect(answer.errors![0]!.extensions.code).toBe('VALIDATION_ERROR');
        expect(JSON.stringify(answer).length).toBeLessThan(1000);
      }
      expect(store).not.toHaveBeenCalled();
    },
  );

  test('the response to a request with invalid GraphQL variables names the first invalid field', async () => {
    const { body } = await send(post(importOf('[{}, {}]')), endpoint);
    expect(body.errors![0]!.extensions.details).toMatchObject({
      field: 'entries.0.referenceId',
      value: null,
    });
  });
});

describe('rate limit points that a GraphQL operation costs', () => {
  test('each mutation field after the first field costs one more rate limit point, even in a fragment or with an alias', async () => {
    const change = 'revokeApiKey(id: "x") { id }';
    await send(
      post({
        query: `mutation { a: ${change} b: ${change} ...More } fragment More on Mutation { c: ${change} }`,
      }),
    );
    expect(charge.mock.calls).toEqual([[3]]);
    expect(state.operation).toBe('mutation revokeApiKey');
    await send(post({ query: `mutation { ${change} }` }));
    await send(post({ query: '{ a: health { status } b: health { status } }' }));
    expect(charge).toHaveBeenCalledTimes(1);
  });

  test('a GraphQL operation that costs more rate limit points than the API key has left does not run', async () => {
    charge.mockRejectedValueOnce(rateLimitExceeded);
    const input = '{ companyId: "x", name: "n", slug: "s" }';
    const change = (alias: string) => `${alias}: createLocation(input: ${input}) { id }`;
    const { status, body } = await send(post({ query: `mutation { ${change('a')} ${change('b')} }` }));
    expect([status, body.errors![0]!.extensions.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(store).not.toHaveBeenCalled();
  });

  test('when one field of a GraphQL operation exceeds a rate limit, the other fields keep their data', async () => {
    store.mockRejectedValueOnce(rateLimitExceeded);
    const query = `{ location(id: "${rows[1]!.id}") { id } health { status } }`;
    const { status, body } = await send(post({ query }));
    expect([status, body.errors![0]!.extensions.code]).toEqual([200, 'RATE_LIMIT_EXCEEDED']);
    expect(body.data).toEqual({ location: null, health: { status: 'ok' } });
  });

  test('when the API key lacks a permission and a GraphQL variable is invalid, the error is FORBIDDEN, and no field of the operation runs', async () => {
    const request = post({
      query: 'query ($n: Int) { health { status } locations(first: $n) { totalCount } }',
      variables: { n: 'x' },
    });
    const { body } = await send(request, newEndpoint(), context([]));
    expect(body.errors![0]!.extensions).toEqual({ code: 'FORBIDDEN', requestId });
    expect(store).not.toHaveBeenCalled();
  });
});

describe('the error in the log entry of a GraphQL response', () => {
  const nested = `{ here: location(id: "${rows[1]!.id}") { id } away: location(id: "${newId()}") { id } }`;
  test.each([
    ['the error of a field, with its path', nested, { errorCode: 'NOT_FOUND', errorPath: 'away' }],
    ['the error of a document', '{ nothing }', { errorCode: 'VALIDATION_ERROR' }],
    ['the error of a text that cannot be parsed', '{', { errorCode: 'VALIDATION_ERROR' }],
    ['no error for a success', '{ health { status } }', {}],
  ])('the log entry of a GraphQL response contains %s', async (_, query, expected) => {
    const endpoint = newEndpoint();
    for (const accept of ['application/json', 'application/json', 'application/graphql-response+json']) {
      delete state.errorCode;
      delete state.errorPath;
      await send(post({ query }, { Accept: accept }), endpoint);
      expect(state).toEqual({ operation: expect.any(String), ...expected });
    }
  });
});

describe('GraphQL operations that a client repeats', () => {
  const list = 'nodes { id name capacity createdAt status { state available } company { name } }';
  const mostRows = rows.length;
  test.each<[string, Record<string, unknown>?]>([
    ['{ health { status __typename } __typename }'],
    [`{ locations(first: 10) { ${list} pageInfo { hasNextPage endCursor } totalCount } }`],
    [`query ($n: Int = 3) { locations(first: $n) { ${list} edges { cursor node { slug } } } }`],
    [`query ($n: Int = 3) { locations(first: $n) { ${list} } }`, { n: null }],
    [
      `query ($n: Int) { a: locations(first: $n) { ...L } b: locations(last: 2) { ...L } }
      fragment L on LocationConnection { ${list} ... on LocationConnection { totalCount } }`,
      { n: mostRows },
    ],
    ['query ($yes: Boolean!) { health { status @include(if: $yes) service } }', { yes: 'yes' }],
    ['query ($id: ID!) { location(id: $id) { id name } }', { id: rows[1]!.id }],
    ['query ($id: ID!) { location(id: $id) { id name } }', { id: 7 }],
    ['query ($id: ID!) { location(id: $id) { id name } }', { id: ['x'] }],
    ['query ($id: ID!) { location(id: $id) { id name } }', {}],
    ['query ($id: ID!) { here: location(id: $id) { id } health { status } }', { id: newId() }],
    ['query ($id: ID!) { location(id: $id) { id } }', { id: rows[9]!.id }],
    ['query ($n: Int) { locations(first: $n) { totalCount } }', { n: 101 }],
    ['query ($n: Int) { locations(first: $n) { totalCount } }', { n: 1.5 }],
    ['query ($n: Int, $c: ID) { locations(first: $n, companyId: $c) { totalCount } }', { n: 1, unknown: 1 }],
    [
      'query ($p: PlateInput!) { plateAccess(locationId: "x", plate: $p) { allowed } }',
      { p: { plateType: 1 } },
    ],
    ['query ($p: PlateInput!) { plateAccess(locationId: "x", plate: $p) { allowed } }', { p: null }],
    [
      'query ($p: PlateInput!) { plateAccess(locationId: "x", plate: $p) { allowed } }',
      { p: { plateType: 'DXB', plateCode: 'A', plateNumber: '7', color: 'red' } },
    ],
    [
      'mutation ($i: CreateLocationInput!) { createLocation(input: $i) { id } }',
      { i: { name: '', slug: 'A' } },
    ],
    [
      'query ($name: String!) { __type(name: $name) { name fields { name type { kind ofType { name } } } } }',
      { name: 'Location' },
    ],
  ])(
    'graphql-js and the compiled code of a GraphQL operation return the same response: %s %o',
    async (query, variables) => {
      const endpoint = newEndpoint();
      const answers: unknown[] = [];
      for (let time = 1; time <= 5; time += 1) {
        const { status, body } = await send(post({ query, variables }), endpoint);
        answers.push({ status, body });
      }
      expect(answers).toEqual(Array(5).fill(answers[0]));
      const accept = 'application/graphql-response+json';
      const { body } = await send(post({ query, variables }, { Accept: accept }), endpoint);
      expect(body).toEqual((answers[0] as Answer).body);
      expect(compile).toHaveBeenCalledTimes(reachesExecution(body) ? 1 : 0);
    },
  );

  test.each(['Other', ''])(
    'when a GraphQL document does not contain the requested operation "%s", the error is the same before and after the gateway has run the document',
    async (operationName) => {
      const query = '{ health { status } }';
      const endpoint = newEndpoint();
      const refused = await send(post({ query, operationName }), endpoint);
      expect(refused.status).toBe(400);
      for (let time = 1; time <= 3; time += 1) await send(post({ query }), endpoint);
      const { status, body } = await send(post({ query, operationName }), endpoint);
      expect([status, body]).toEqual([refused.status, refused.body]);
    },
  );

  test.each([
    [
      'query A { health { status } } query B { health { service } }',
      undefined,
      ['several operations', 'A, B'],
    ],
    ['query A { health { status } } query B { health { service } }', 'C', ['"C"', 'A, B']],
    ['{ health { status } }', 'C', ['"C"', 'omit operationName']],
    ['fragment F on Health { status }', undefined, ['no operation']],
    [`query ${'A'.repeat(15_000)} { health { status } }`, 'C', ['"C"', 'operationName']],
  ])(
    'the error about a missing operation names operationName and the operations of the document: %s, %s',
    async (query, operationName, parts) => {
      const endpoint = newEndpoint();
      const requests = () => [
        post({ query, operationName }),
        post({ query, operationName }, { Accept: 'application/graphql-response+json' }),
        get({ query, ...(operationName && { operationName }) }),
      ];
      const answers: Answer[] = [];
      for (const request of requests()) answers.push(await send(request, endpoint));
      for (let time = 1; time <= 3; time += 1) {
        await send(post({ query, operationName: query.startsWith('query A ') ? 'A' : undefined }), endpoint);
      }
      for (const request of requests()) answers.push(await send(request, endpoint));
      for (const { status, body } of answers) {
        expect([status, body]).toEqual([400, answers[0]!.body]);
        for (const part of parts) expect(body.errors![0]!.message).toContain(part);
        expect(body.errors![0]!.message.length).toBeLessThan(600);
      }
    },
  );

  test.each([5, false, {}, ['A']])(
    'the error about the operationName %j says that operationName must be a string',
    async (operationName) => {
      for (const query of ['{ health { status } }', 'query A { health { status } }']) {
        const { status, body } = await send(post({ query, operationName }), newEndpoint());
        expect([status, body.errors![0]!.message]).toEqual([
          400,
          'The parameter operationName must be a string',
        ]);
      }
    },
  );

  // If the gateway refuses an operation before execution, the response has no `data`. The gateway never compiles an
  // operation that it refuses before execution.
  const reachesExecution = ({ data }: Answer['body']) => data !== undefined;

  test('the gateway compiles a GraphQL operation at the third run of the operation', async () => {
    const endpoint = newEndpoint();
    const compiled: number[] = [];
    for (let time = 1; time <= 4; time += 1) {
      await send(post({ query: '{ health { service } }' }), endpoint);
      compiled.push(compile.mock.calls.length);
    }
    expect(compiled).toEqual([0, 0, 1, 1]);
  });

  test('the GraphQL response hides the cause of an unexpected error, whether or not the gateway has compiled the operation', async () => {
    const endpoint = newEndpoint();
    for (let time = 1; time <= 4; time += 1) {
      const { body } = await send(post({ query: `{ location(id: "${rows[9]!.id}") { id } }` }), endpoint);
      expect(body.errors).toEqual([
        {
          message: 'Internal server error',
          path: ['location'],
          extensions: { code: 'INTERNAL_ERROR', requestId },
        },
      ]);
    }
    expect(logged).toHaveBeenCalledTimes(4);
    expect(logged.mock.calls[0]![0]).toContain('lost the database');
  });

  test('when the compilation of a GraphQL operation fails, the response hides the cause, and the log contains the cause', async () => {
    const endpoint = newEndpoint();
    const query = '{ health { version } }';
    await send(post({ query }), endpoint);
    await send(post({ query }), endpoint);
    compile.mockImplementationOnce(() => {
      throw new TypeError('secret cause');
    });
    const { status, body } = await send(post({ query }), endpoint);
    expect(status).toBe(500);
    expect(body).toEqual({
      errors: [
        {
          message: 'Internal server error',
          extensions: { code: 'INTERNAL_ERROR', requestId },
        },
      ],
    });
    expect(logged.mock.calls[0]![0]).toContain('secret cause');
  });

  test('when an error occurs outside of the resolvers, the GraphQL response hides the cause of the error, and the log contains the cause', async () => {
    const broken = stub<GraphExecutor>({
      ...createGraphExecutor(schema),
      execute: () => Promise.reject(new TypeError('secret cause')),
    });
    const { status, body } = await send(
      post({ query: '{ health { version } }' }),
      createGraphEndpoint(schema, broken, createMetrics({ limiter: { backend: 'memory' } })),
    );
    expect([status, body.errors![0]!.message]).toEqual([500, 'Internal server error']);
    expect(logged.mock.calls[0]![0]).toContain('secret cause');
  });
});

test('the gateway caches at most 500 parsed GraphQL documents, and replaces the least recently used document first', async () => {
  const executor = createGraphExecutor(schema);
  const endpoint = createGraphEndpoint(schema, executor, createMetrics({ limiter: { backend: 'memory' } }));
  const texts = Array.from({ length: 501 }, (_, index) => `{ health { status } a${index}: __typename }`);
  for (const query of texts) await send(post({ query }), endpoint);
  expect(texts.filter((text) => !executor.knownDocument(text))).toEqual([texts[0]]);
});

/** A schema with a subscription that sends one result and one unexpected error. */
const ticking = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { tick: { type: GraphQLString } } }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      tick: {
        type: GraphQLString,
        subscribe: async function* () {
          yield 'good';
          yield 'bad';
        },
        resolve: (tick: string) => {
          if (tick === 'bad') throw new Error('secret cause');
          return tick;
        },
      },
    },
  }),
});

test('a subscription streams its results, even if the process has executed a query from the same GraphQL document before', async () => {
  const endpoint = newEndpoint(ticking);
  const query = 'query Q { tick } subscription S { tick }';
  await send(post({ query, operationName: 'Q' }), endpoint);
  const response = await endpoint.handle(
    post({ query, operationName: 'S' }, { Accept: '*/*' }),
    context(),
    respondTo,
  );
  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  expect(await response.text()).toContain('{"data":{"tick":"good"}}');
});

test('a GraphQL subscription streams its results, and hides the causes of unexpected errors', async () => {
  const response = await newEndpoint(ticking).handle(
    post({ query: 'subscription { tick }' }, { Accept: 'text/event-stream' }),
    context(),
    respondTo,
  );
  expect(response.headers.get('Content-Type')).toBe('text/event-stream');
  const stream = await response.text();
  expect(stream).toContain('{"data":{"tick":"good"}}');
  expect(stream).toContain('INTERNAL_ERROR');
  expect(stream).not.toContain('secret cause');
});

test.each(
  ['application/json', 'application/graphql-response+json', 'text/event-stream'].flatMap((accept) => [
    { accept, letters: 'Latin', letter: 'x', length: 9 * 1024 * 1024 },
    { accept, letters: 'Arabic', letter: 'ش', length: 5 * 1024 * 1024 },
  ]),
)(
  'a query gets an error when its result is larger than 8 MiB ($letters letters, Accept: $accept)',
  async ({ accept, letter, length }) => {
    const query = new GraphQLObjectType({
      name: 'Query',
      fields: { text: { type: GraphQLString, resolve: () => letter.repeat(length) } },
    });
    const endpoint = newEndpoint(new GraphQLSchema({ query }));
    for (let request = 0; request < 2; request += 1) {
      const response = await endpoint.handle(
        post({ query: '{ text }' }, { Accept: accept }),
        context(),
        respondTo,
      );
      expect(await response.text()).toContain('The answer is larger than 8 MiB, ask for smaller pages');
    }
  },
);
