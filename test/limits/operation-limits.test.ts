import { getIntrospectionQuery } from 'graphql';
import { describe, expect, test } from 'vitest';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();

const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/**
 * Returns a GraphQL operation with a chain of `depth` fragments. Each fragment spreads the next fragment twice, so the
 * operation has 2 to the power of `depth` fields.
 */
const bomb = (depth: number) =>
  `{ ...F0 } ${times(depth, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`)}
   fragment F${depth} on Query { companies { totalCount } }`;

const rename = (index: number) => `m${index}: updateLocation(id: "x", input: { name: "n" }) { id }`;

describe('GraphQL operations that are too large, too deep or too expensive', () => {
  test.each([
    [
      '101 aliases of __typename',
      `{ companies { nodes { id } } ${times(101, (index) => `a${index}: __typename`)} }`,
    ],
    ['500 duplicate fields', `{ companies { nodes { ${'name '.repeat(500)} } } }`],
    ['a document of 2 MB', `{ company(id: "${'x'.repeat(2_000_000)}") { id } }`],
    ['2,000 fields', `{ companies { nodes { ${'name '.repeat(2000)} } } }`],
    [
      'circular fragments',
      '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A companies { totalCount } }',
    ],
    ['a fragment bomb', bomb(25)],
    ['a fragment bomb that no operation uses', `{ health { status } } ${bomb(25).replace('{ ...F0 }', '')}`],
    [
      'duplicate fields in an unused fragment',
      `{ health { status } } fragment F on Company { ${'name '.repeat(1400)} }`,
    ],
    ['too many tokens', `{ company(id: [${'1 '.repeat(1500)}]) { id } }`],
    [
      'a negative page size that would reduce the cost',
      '{ a: companies(first: 100) { nodes { locations(first: 100) { nodes { whitelist(first: 100) { nodes { id } } } } } } b: companies(first: -2000000) { nodes { id } } }',
    ],
    [
      'a negative page size of a whitelist feed that would reduce the cost',
      '{ a: companies(first: 100) { nodes { locations(first: 100) { nodes { whitelist(first: 100) { nodes { id } } } } } } b: whitelistChanges(locationId: "x", first: -2000000) { upserts { id } removals { id } } }',
    ],
    ['50 mutations', `mutation { ${times(50, rename)} }`],
    ['11 mutations', `mutation { ${times(11, rename)} }`],
    ['200 directives', `{ companies { totalCount ${'@include(if: true) '.repeat(200)} } }`],
    [
      'deep nesting',
      `{ companies { nodes { ${'locations { nodes { company { '.repeat(8)} id ${'} } } '.repeat(8)} } } }`,
    ],
    [
      'nested pages on three levels',
      '{ companies(first: 100) { nodes { locations(first: 100) { nodes { whitelist(first: 100) { nodes { id } } } } } } }',
    ],
    ['a page over 100', '{ companies(first: 101) { totalCount } }'],
    ['a page of 0', '{ companies(last: 0) { totalCount } }'],
    ['several operations in one request', '[{"query":"{ companies { totalCount } }"}]'],
  ])('GraphQL refuses an operation before the gateway sends any database query: %s', async (_, query) => {
    const key = await gateway.newKey();
    await gateway.rest('GET', '/health', { key });
    const body = query.startsWith('[') ? query : JSON.stringify({ query });
    let answer: { body: { errors: { extensions: { code: string } }[]; data?: object } } | undefined;
    const statements = await statementsOfRequest(async () => {
      const response = await gateway.app.request('/graphql', {
        method: 'POST',
        headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
        body,
      });
      answer = { body: await response.json() };
    });
    expect(answer!.body.errors[0]!.extensions.code).toBe('VALIDATION_ERROR');
    expect(answer!.body.errors.length).toBeLessThan(25);
    expect(Object.values(answer!.body.data ?? {}).filter((data) => data !== null)).toEqual([]);
    expect(statements).toEqual([]);
  });

  test('GraphQL refuses an operation when the page size in its variables makes the operation too expensive', async () => {
    const query = `query ($n: Int) { companies(first: $n) { nodes { locations(first: $n) { nodes {
      whitelist(first: $n) { nodes { id } } } } } } }`;
    const { key } = await gateway.newTenant();
    const large = await gateway.graph(query, { key, variables: { n: 100 } });
    expect(large.body.errors[0].extensions.code).toBe('VALIDATION_ERROR');
    expect((await gateway.graph(query, { key, variables: { n: 5 } })).body.errors).toBeUndefined();
  });

  test('GraphQL refuses an import when the request selects a page of whitelist entries for each imported row', async () => {
    const { key, locationId } = await gateway.newTenant();
    const importing = (selection: string) =>
      gateway.graph(
        `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
          importWhitelistEntries(locationId: $locationId, entries: $entries, dryRun: true) { ${selection} } }`,
        { key, variables: { locationId, entries: [newEntry()] } },
      );
    const large = 'rows { entry { location { whitelist(first: 100) { nodes { id } } } } }';
    expect((await importing(large)).body.errors[0].extensions.code).toBe('VALIDATION_ERROR');
    const report =
      'total rows { index outcome entry { id location { name } } error { code message field value } }';
    expect((await importing(report)).body.errors).toBeUndefined();
  });
});

describe('GraphQL operations that clients need', () => {
  test.each([
    [
      "GraphiQL's introspection",
      getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true }),
    ],
    ['a page of 100 locations', '{ locations(first: 100) { nodes { id name status { occupied } } } }'],
    [
      'nested pages of 20 items',
      '{ locations(first: 20) { nodes { company { name } whitelist(first: 20) { nodes { plateNumber } } } } }',
    ],
    ['a mutation with 10 changes', `mutation { ${times(10, rename)} }`],
  ])('GraphQL accepts an operation that clients need: %s', async (_, query) => {
    const { key } = await gateway.newTenant();
    const { body } = await gateway.graph(query, { key });
    expect(body.errors?.[0].extensions.code ?? 'NOT_FOUND').toBe('NOT_FOUND');
  });
});

describe('HTTP requests to the GraphQL endpoint', () => {
  const post = (init: RequestInit, path = '/graphql') =>
    gateway.app.request(path, { method: 'POST', ...init });

  test('a GraphQL client without an API key gets no data, not even the schema', async () => {
    for (const query of ['{ __schema { types { name } } }', '{ helth { status } }', '{']) {
      const { status, body, headers } = await gateway.graph(query);
      const requestId = headers.get('X-Request-Id');
      expect([status, body]).toEqual([
        401,
        { errors: [{ message: 'API key is required', extensions: { code: 'UNAUTHORIZED', requestId } }] },
      ]);
    }
  });

  test('GraphQL refuses a mutation in a GET request, in an HTML form of another origin, and in a multipart form', async () => {
    const { key } = await gateway.newTenant();
    const mutation = 'mutation { registerCompany(input: { name: "a", slug: "b", address: "c" }) { id } }';
    const get = await gateway.app.request(`/graphql?query=${encodeURIComponent(mutation)}`, {
      headers: { 'X-API-Key': key },
    });
    const form = await post({
      headers: {
        'X-API-Key': key,
        'Content-Type': 'application/x-www-form-urlencoded',
        Origin: 'https://evil.example',
      },
      body: new URLSearchParams({ query: mutation }),
    });
    const multipart = new FormData();
    multipart.set('operations', JSON.stringify({ query: mutation }));
    const upload = await post({ headers: { 'X-API-Key': key }, body: multipart });
    expect([get.status, form.status, upload.status]).toEqual([405, 415, 415]);
    expect(await gateway.database.prisma.company.count({ where: { slug: 'b' } })).toBe(0);
    expect(form.headers.get('Access-Control-Allow-Origin')).toBeNull();
  });
});
