import fc from 'fast-check';
import { getIntrospectionQuery } from 'graphql';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { shown } from '../../src/errors/error-table.ts';
import { createStructureCheck } from '../../src/http/bodies/json.ts';
import { createBodyAnswerer } from '../../src/http/bodies/large-bodies.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { statementsOf } from '../support/statements.ts';

const gateway = await sharedTestGateway();

const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

/** Returns how many rate limit points a request takes from the hourly limit of its API key. */
async function pointsOf(send: (key: string) => Promise<{ headers: Headers }>, companyIds: string[] = []) {
  const key = await gateway.newKey({ companyIds, hourlyLimit: 1000, burstLimit: 1000 });
  const { headers } = await send(key);
  return 1000 - Number(headers.get('X-RateLimit-Remaining'));
}

const importOf = `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
  importWhitelistEntries(locationId: $locationId, entries: $entries, dryRun: true) { total } }`;

describe('rate limit points that GraphQL requests cost', () => {
  test.each([
    ['one point for a query', 1, '{ viewer { name } }'],
    [
      'one point for a full page',
      1,
      '{ locations(first: 100) { totalCount nodes { id name slug address } } }',
    ],
    ["one point for GraphiQL's introspection", 1, getIntrospectionQuery({ specifiedByUrl: true })],
    [
      'one point for each change',
      4,
      `mutation { ${times(4, (index) => `a${index}: revokeApiKey(id: "x") { id }`)} }`,
    ],
    [
      'one point for each 2,000 units of cost, rounded up',
      2,
      '{ companies(first: 100) { nodes { id name slug locations(first: 20) { nodes { id } } } } }',
    ],
    [
      'one point for each 2,000 units of cost when the query counts lists, rounded up',
      2,
      '{ a: companies { nodes { locations { totalCount } } } b: companies { nodes { locations { totalCount } } } }',
    ],
  ])('the rate limit points that the gateway charges for a GraphQL request: %s', async (_, points, query) => {
    const { companyId } = await gateway.newTenant();
    expect(await pointsOf((key) => gateway.graph(query, { key }), [companyId])).toBe(points);
  });

  test.each([
    ['one point for a new name', 1, '{ name: "Renamed" }', undefined],
    ['five points for longestStayHours in the document', 5, '{ longestStayHours: 5 }', undefined],
    [
      'five points for longestStayHours in a variable',
      5,
      undefined,
      { name: 'Renamed', longestStayHours: null },
    ],
  ])('an update of a location costs rate limit points: %s', async (_, points, literal, input) => {
    const { companyId, locationId } = await gateway.newTenant();
    const query = literal
      ? `mutation { updateLocation(id: "${locationId}", input: ${literal}) { id } }`
      : `mutation ($input: UpdateLocationInput!) { updateLocation(id: "${locationId}", input: $input) { id } }`;
    const change = (key: string) => gateway.graph(query, { key, variables: { input } });
    expect(await pointsOf(change, [companyId])).toBe(points);
  });

  test.each([
    [1, 250],
    [2, 251],
  ])(
    'a request with the mutation setInside costs %i rate limit points when the mutation lists %i vehicles',
    async (points, vehicles) => {
      const { companyId, locationId } = await gateway.newTenant();
      const plates = Array.from({ length: vehicles }, (_, index) => ({
        ...{ plateType: 'DXB', plateCode: 'A', plateNumber: String(index) },
      }));
      const query = `mutation ($locationId: ID!, $plates: [PlateInput!]!) {
      setInside(locationId: $locationId, plates: $plates) { occupied } }`;
      const count = (key: string) => gateway.graph(query, { key, variables: { locationId, plates } });
      expect(await pointsOf(count, [companyId])).toBe(points);
    },
  );

  test.each([
    ['one point', 1, ''],
    [
      'four points when the query counts only entries that are valid at a given time',
      4,
      ', validAt: "2026-01-05T08:00:00Z"',
    ],
  ])('a GraphQL query that counts whitelist entries under 30 aliases costs %s', async (_, points, filter) => {
    const { companyId, locationId } = await gateway.newTenant();
    const query = `{ ${times(30, (index) => `a${index}: whitelist(locationId: "${locationId}", plateNumber: "${index}"${filter}) { totalCount }`)} }`;
    expect(await pointsOf((key) => gateway.graph(query, { key }), [companyId])).toBe(points);
  });

  test.each([
    [1, 1000],
    [2, 1001],
  ])('a GraphQL request costs %i rate limit points when it imports %i rows', async (points, rows) => {
    const { companyId, locationId } = await gateway.newTenant();
    const entries = Array.from({ length: rows }, () => newEntry());
    const variables = { locationId, entries };
    expect(await pointsOf((key) => gateway.graph(importOf, { key, variables }), [companyId])).toBe(points);
  });

  describe('GraphQL requests that cost more rate limit points than the API key has left', () => {
    const rateLimit = '{ viewer { rateLimit { name remaining } } }';
    const setLongestStay = `mutation ($id: ID!) { updateLocation(id: $id, input: { longestStayHours: 5 }) { id } }`;

    test.each([
      ['minute', { hourlyLimit: 1000, burstLimit: 5 }, { hour: 998, burst: 3 }],
      ['hour', { hourlyLimit: 5, burstLimit: 100 }, { hour: 3, burst: 98 }],
    ])(
      'when the rate limit for one %s refuses a request, the request costs no points',
      async (_, limits, { hour, burst }) => {
        const { companyId, locationId } = await gateway.newTenant();
        const key = await gateway.newKey({ companyIds: [companyId], ...limits });
        await gateway.graph('{ viewer { name } }', { key });
        for (let time = 0; time < 6; time += 1) {
          const refused = await gateway.graph(setLongestStay, { key, variables: { id: locationId } });
          expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([
            429,
            'RATE_LIMIT_EXCEEDED',
          ]);
          expect(refused.headers.get('X-RateLimit-Remaining')).toBe('0');
          expect(refused.headers.get('RateLimit')).toMatch(
            new RegExp(`^"hour";r=${hour + 1};t=\\d+, "burst";r=${burst + 1};t=\\d+$`),
          );
        }
        const { body } = await gateway.graph(rateLimit, { key });
        expect(body.data.viewer.rateLimit).toEqual([
          { name: 'hour', remaining: hour },
          { name: 'burst', remaining: burst },
        ]);
      },
    );

    test.each([
      [{ hourlyLimit: 1000, burstLimit: 4 }],
      [{ hourlyLimit: 4, burstLimit: 100 }],
      [{ hourlyLimit: 2, burstLimit: 3 }],
    ])(
      'a request that costs more points than a rate limit of its API key can ever allow gets VALIDATION_ERROR (rate limits: %o)',
      async (limits) => {
        const { companyId, locationId } = await gateway.newTenant();
        const key = await gateway.newKey({ companyIds: [companyId], ...limits });
        const { headers, body } = await gateway.graph(setLongestStay, { key, variables: { id: locationId } });
        const [{ message, extensions }] = body.errors;
        expect(extensions.code).toBe('VALIDATION_ERROR');
        const most = Math.min(limits.hourlyLimit, limits.burstLimit);
        expect(message).toBe(
          `Request costs 5 points; the rate limit of the API key allows at most ${most}. Send a smaller request, or ask for a higher rate limit.`,
        );
        expect(headers.get('Retry-After')).toBeNull();
        expect(headers.get('X-RateLimit-Remaining')).toBe(String(limits.hourlyLimit - 1));
      },
    );
  });

  test('a REST request costs one rate limit point, even when the response contains a whole list', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    for (const path of [
      '/companies',
      '/locations',
      '/locations/status',
      `/locations/${locationId}/whitelist`,
    ]) {
      expect(await pointsOf((key) => gateway.rest('GET', path, { key }), [companyId])).toBe(1);
    }
  });

  test('a GraphQL response shows the cost of the request when the client sends the header X-Query-Cost', async () => {
    const { key } = await gateway.newTenant();
    const headers = { 'X-Query-Cost': 'true' };
    for (let time = 0; time < 4; time += 1) {
      const { body } = await gateway.graph('{ locations(first: 50) { nodes { id } } }', { key, headers });
      expect(body.extensions).toEqual({ cost: { requested: 52, points: 1 } });
    }
    expect((await gateway.graph('{ viewer { id } }', { key })).body.extensions).toBeUndefined();
  });
});

test('when a request contains a long invalid value, the error messages do not repeat the whole value', async () => {
  const { key, locationId } = await gateway.newTenant();
  const query = `query ($plate: PlateInput!) {
    plateAccess(locationId: "${locationId}", plate: $plate) { allowed } }`;
  const fields = Array.from({ length: 20_000 }, (_, index) => [`field${index}`, []]);
  const { body } = await gateway.graph(query, { key, variables: { plate: Object.fromEntries(fields) } });
  expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(JSON.stringify(body).length).toBeLessThan(50_000);
});

test('the gateway shortens a very long invalid name in an error message', async () => {
  const { key, locationId } = await gateway.newTenant();
  const query = `query ($plate: PlateInput!) {
    plateAccess(locationId: "${locationId}", plate: $plate) { allowed } }`;
  const plate = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`${index}${'x'.repeat(900)}`, 1]),
  );
  const { body } = await gateway.graph(query, { key, variables: { plate } });
  expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(JSON.stringify(body).length).toBeLessThan(15_000);
});

test('the gateway shortens a text in an error message to 200 characters, even if a character has two UTF-16 units', () => {
  expect(shown('🚗'.repeat(200))).toBe('🚗'.repeat(200));
  expect(shown(`x${'🚗'.repeat(300)}`)).toBe(`x${'🚗'.repeat(199)}`);
  expect(shown(`${'x'.repeat(200)}🚗`)).toBe('x'.repeat(200));
});

test('when a value is too long for an error message, the gateway does not serialize the whole value', () => {
  let written = 0;
  const part = {
    toJSON() {
      written += 1;
      return 1;
    },
  };
  expect(shown(Array(100_000).fill(part))).toBeUndefined();
  expect(written).toBeLessThan(1_000);
  for (const short of [[], {}, { a: 'x'.repeat(190) }, Array(90).fill(1)]) expect(shown(short)).toBe(short);
  for (const long of [{ a: 'x'.repeat(195) }, { ['x'.repeat(300)]: 1 }, Array(100).fill(1)]) {
    expect(shown(long)).toBeUndefined();
  }
});

test('when a JSON string is too long, the gateway stops reading the string at the maximum length', () => {
  const millisecondsOf = (quotes: number) => {
    const text = `{"a":"${'\\"'.repeat(quotes)}"}`;
    // `repeat` returns a string that JavaScript stores in several pieces. `charCodeAt` makes JavaScript join these
    // pieces now, so that the measured time does not include this work.
    text.charCodeAt(0);
    const startedAt = performance.now();
    expect(createStructureCheck()(text)).toMatch(/text of more than/);
    return performance.now() - startedAt;
  };
  const least = (quotes: number) => Math.min(...Array.from({ length: 5 }, () => millisecondsOf(quotes)));
  expect(least(4_000_000)).toBeLessThan(20 * Math.max(least(20_000), 0.1));
});

test('a page of the whitelist feed costs one rate limit point, and costs more if the query selects nested fields of the whitelist entries', async () => {
  const { companyId, locationId } = await gateway.newTenant();
  const feed = (first: number, fields: string) =>
    `{ whitelistChanges(locationId: "${locationId}", first: ${first}) { upserts { ${fields} } removals { id plateType plateCode plateNumber } } }`;
  const plain =
    'id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil version createdAt updatedAt';
  const points = (query: string) => pointsOf((key) => gateway.graph(query, { key }), [companyId]);
  expect(await points(feed(5_000, plain))).toBe(1);
  expect(await points(feed(1_000, 'location { name }'))).toBe(2);
  const nested = feed(5_000, 'location { company { locations(first: 30) { nodes { id } } } }');
  const { body } = await gateway.graph(nested, { key: await gateway.newKey({ companyIds: [companyId] }) });
  expect(body.errors[0].message).toMatch(/^The operation has a cost of \d+; the maximum cost is 10000/);
});

describe('cost of fields that read the database for each row or item', () => {
  const importing = (selection: string) =>
    importOf.replace(
      '{ total }',
      `{ total rows { index outcome error { code message field value } ${selection} } }`,
    );

  test('the number of imported rows multiplies the cost of a nested field in the result of an import', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const entries = Array.from({ length: 1000 }, () => newEntry());
    const points = (selection: string, rows: number) => {
      const variables = { locationId, entries: entries.slice(0, rows) };
      return pointsOf((key) => gateway.graph(importing(selection), { key, variables }), [companyId]);
    };
    expect(await points('', 1000)).toBe(1);
    expect(await points('entry { id }', 1)).toBe(1);
    expect(await points('entry { id }', 1000)).toBe(2);
    expect(await points('entry { id location { name } }', 1000)).toBe(3);
  });

  test('when the cost of an import is higher than the maximum cost, the gateway refuses the import and stores no row', async () => {
    const { key, locationId } = await gateway.newTenant();
    const entries = Array.from({ length: 5000 }, () => newEntry());
    const query = importing('entry { location { name } }').replace(', dryRun: true', '');
    const { body } = await gateway.graph(query, { key, variables: { locationId, entries } });
    expect(body.errors[0].message).toMatch(/^The operation has a cost of \d+; the maximum cost is 10000/);
    expect(await gateway.database.prisma.whitelistEntry.count({ where: { locationId } })).toBe(0);
  });

  test('the cost of a nested field grows with the page size, or with the number of quotas that a mutation sets', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const quotas = Array.from({ length: 1000 }, (_, index) => ({ referenceId: `unit-${index}`, inside: 1 }));
    const setting = (selection: string) =>
      `mutation ($locationId: ID!, $quotas: [QuotaInput!]!) { setQuotas(locationId: $locationId, quotas: $quotas) { ${selection} } }`;
    const variables = { locationId, quotas };
    const points = (query: string) =>
      pointsOf((key) => gateway.graph(query, { key, variables }), [companyId]);
    expect(await points(setting('referenceId inside enforcement'))).toBe(1);
    expect(await points(setting('referenceId used'))).toBe(3);

    const headers = { 'X-Query-Cost': 'true' };
    const { key } = await gateway.newTenant();
    const costOf = async (selection: string) =>
      (await gateway.graph(`{ ${selection} }`, { key, headers })).body.extensions.cost.requested;
    expect(await costOf('companies(first: 50) { nodes { settings } }')).toBe(2 + 5 * 50);
    expect(await costOf('locations(first: 5) { nodes { quotas(first: 10) { nodes { used } } } }')).toBe(
      2 + 5 * (2 + 5 * 10),
    );
  });
});

describe('GraphQL requests that select a list or a page several times', () => {
  test('when a query selects `totalCount` of the same list under 28 aliases, the database counts the list only once', async () => {
    const { key } = await gateway.newTenant();
    const query = `{ ${times(28, (index) => `a${index}: locations { totalCount }`)} }`;
    // The test runs the query four times, because the gateway compiles a GraphQL operation at the third execution.
    for (let use = 1; use <= 4; use += 1) {
      let totals: unknown[] = [];
      const statements = await statementsOf(async () => {
        const { body } = await gateway.graph(query, { key });
        totals = Object.values(body.data);
      });
      expect(totals).toEqual(Array(28).fill({ totalCount: 1 }));
      expect(statements.filter((statement) => /count\(/i.test(statement))).toHaveLength(1);
    }
  });

  test('when a query selects the same page under 28 aliases, the database reads and counts the page only once', async () => {
    const { key, locationId } = await gateway.newTenant();
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
    const selection = '{ totalCount nodes { action } }';
    const statementsFor = async (equal: number) => {
      const query = `{ ${times(equal, (index) => `a${index}: auditLog(first: 5) ${selection}`)} other: auditLog(first: 6) ${selection} }`;
      const statements = await statementsOf(async () => {
        const { body } = await gateway.graph(query, { key });
        expect(Object.values(body.data)).toEqual(
          Array(equal + 1).fill({ totalCount: 1, nodes: [{ action: 'whitelist.created' }] }),
        );
      });
      return statements.filter((statement) => statement.includes('"AuditRecord"')).length;
    };
    expect(await statementsFor(28)).toBe(await statementsFor(1));
  });

  test('when one request selects several lists, each list in the response contains its own items', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() });
    const { body } = await gateway.graph(
      `query ($companyId: ID!, $locationId: ID!) {
        locations(companyId: $companyId) { totalCount }
        all: whitelist(locationId: $locationId) { totalCount }
        none: whitelist(locationId: $locationId, referenceId: "nobody") { totalCount }
      }`,
      { key, variables: { companyId, locationId } },
    );
    expect(body.data).toEqual({
      locations: { totalCount: 1 },
      all: { totalCount: 1 },
      none: { totalCount: 0 },
    });
  });
});

describe('request bodies that are refused before parsing', () => {
  const manyValues = `[${'{},'.repeat(200_000)}{}]`;
  const deep = '['.repeat(41) + ']'.repeat(41);
  const inVariables = (json: string) => `{"query":"{ health { status } }","variables":{"a":${json}}}`;
  const longText = `"${'x'.repeat(32_768)}"`;

  test.each([
    ['with too many small values', manyValues, /more than 400000 values/],
    ['with too deep nesting', deep, /nested more than 40 levels/],
    [
      'with too many fields in an object',
      `{${times(6_000, (index) => `"f${index}":1,`)}"g":1}`,
      /objects with more than 5000 fields/,
    ],
    ['with a text that is too long', `{"a":${longText}}`, /text of more than 32768 characters/],
    [
      'with a field name that is too long',
      `{"${'x'.repeat(1_000)}" \n:1}`,
      /name has more than 1000 characters/,
    ],
  ])('a request body %s is refused by REST and GraphQL', async (_, json, message) => {
    const { key, locationId } = await gateway.newTenant();
    const rest = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: json });
    expect([rest.status, rest.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(rest.body.error.message).toMatch(message);
    const response = await gateway.app.request('/graphql', {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: inVariables(json),
    });
    const { errors } = (await response.json()) as {
      errors: { message: string; extensions: { code: string } }[];
    };
    expect([response.status, errors[0]!.extensions.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(errors[0]!.message).toMatch(message);
  });

  test('the gateway refuses a request body over 1 MiB if the API key has no permission to import whitelist entries or record parking events', async () => {
    const body = inVariables(JSON.stringify(Array(64).fill('x'.repeat(16 * 1024))));
    const send = async (key: string) =>
      gateway.app.request('/graphql', {
        method: 'POST',
        headers: {
          'X-API-Key': key,
          'Content-Type': 'application/json',
          'Content-Length': String(body.length),
        },
        body,
      });
    const reader = await gateway.newKey({ permissions: ['READ_WHITELIST'] });
    expect((await send(reader)).status).toBe(413);
    expect((await send(await gateway.newKey({ permissions: ['WRITE_WHITELIST'] }))).status).toBe(200);
  });
});

test('the gateway refuses a GraphQL variable whose name has a special meaning in JavaScript', async () => {
  const { key } = await gateway.newTenant();
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const query = `query ($${name}: Int) { locations(first: $${name}) { nodes { id } } }`;
    for (let time = 0; time < 4; time += 1) {
      for (const variables of [`{"${name}":1}`, '{}', `{"${name}":"x"}`]) {
        const response = await gateway.app.request('/graphql', {
          method: 'POST',
          headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
          body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
        });
        const body = (await response.json()) as { errors?: { extensions: { code: string } }[] };
        const codes = body.errors?.map(({ extensions }) => extensions.code) ?? [];
        expect([response.status, codes], `${name} ${variables}`).toEqual([200, ['VALIDATION_ERROR']]);
      }
    }
  }
});

test('for a required argument, GraphQL refuses a variable with the value null, even if the variable has a default value', async () => {
  const { key, locationId } = await gateway.newTenant();
  const query = `query ($id: ID = "x") { location(id: $id) { id } }`;
  for (let time = 0; time < 4; time += 1) {
    const { body } = await gateway.graph(query, { key, variables: { id: null } });
    expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'id' } });
    expect((await gateway.graph(query, { key, variables: { id: locationId } })).body.errors).toBeUndefined();
  }
});

test.each(['0000-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999-00:01', 'soon'])(
  'a time outside the years 1970 to 9999 is refused: %s',
  async (at) => {
    const { key, locationId } = await gateway.newTenant();
    const entry = newEntry({ validUntil: at });
    const rest = await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry });
    expect([rest.status, rest.body.error.details]).toMatchObject([400, { field: 'validUntil', value: at }]);
    const query = `query ($at: DateTime) {
      plateAccess(locationId: "${locationId}", at: $at, plate: { plateType: "DXB", plateCode: "A", plateNumber: "1" }) { allowed } }`;
    const { body } = await gateway.graph(query, { key, variables: { at } });
    expect(body.errors[0].extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'at' } });
  },
);

/** Creates a request body that contains the given bytes. If `ends` is false, the request body never ends. */
const bodyOf = (bytes: () => Promise<Uint8Array>, { ends = true } = {}) =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        controller.enqueue(await bytes());
        if (ends) controller.close();
      },
    },
    { highWaterMark: 0 },
  );

/** Creates a request whose body is the text that the given function returns. */
function newRequest(headers: Record<string, string>, text: () => Promise<string>) {
  const bytes = async () => new TextEncoder().encode(await text());
  return {
    headers: new Headers(headers),
    arrayBuffer: async () => (await bytes()).buffer,
    body: bodyOf(bytes),
  } as Partial<Request> as Request;
}

test('when a large request body does not arrive within 30 s, the gateway refuses the body and reads the next waiting body', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const answerBody = createBodyAnswerer();
  const large = (text: Promise<string>) =>
    answerBody(
      newRequest({ 'Transfer-Encoding': 'chunked' }, () => text),
      'a',
      async (body) => body,
    );
  const slow = large(new Promise(() => undefined)).catch((error: Error) => error);
  const next = large(Promise.resolve('{}'));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await slow).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('in time') });
  expect(await next).toEqual({});
});

test('while large request bodies of two API keys arrive slowly, a large request body of a third API key waits at most 2 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const answerBody = createBodyAnswerer();
  const large = (key: string, text: Promise<string>) =>
    answerBody(
      newRequest({ 'Transfer-Encoding': 'chunked' }, () => text),
      key,
      async () => key,
    );
  const slow = ['a', 'b'].map((key) =>
    large(key, new Promise(() => undefined)).catch(({ code }: { code: string }) => code),
  );
  const ofAnother = large('c', Promise.resolve('{}'));
  await vi.advanceTimersByTimeAsync(2_100);
  expect(await ofAnother).toBe('c');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await Promise.all(slow)).toEqual(Array(2).fill('VALIDATION_ERROR'));
});

test('a JSON body has the same limits whether the body arrives in chunks or as a whole', () => {
  const long = (characters: number) => 'x'.repeat(characters);
  const texts = [
    `{"${long(1_000)}" \n : 1}`,
    `["${long(1_000)}", 1]`,
    `{"a": "${long(32_768)}"}`,
    `{"a": "${'\\"'.repeat(16_384)}"}`,
    `[${'{},'.repeat(150_000)}{}]`,
    '['.repeat(50),
    `{${times(6_000, (index) => `"f${index}":0,`)}"g":0}`,
    JSON.stringify({ query: 'a "quoted" \\ text', variables: { list: [1, { a: [] }, 'b:"'] } }),
    `{"open": "string`,
  ];
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.integer({ min: 1, max: 70_000 }), (text, size) => {
      const faultOf = createStructureCheck();
      let fault: string | undefined;
      for (let start = 0; start < text.length && !fault; start += size) {
        fault = faultOf(text.slice(start, start + size));
      }
      expect(fault).toBe(createStructureCheck()(text));
    }),
    { numRuns: 60 },
  );
  expect(texts.map((text) => createStructureCheck()(text)?.split(' ').slice(0, 3).join(' '))).toEqual([
    'has a field',
    undefined,
    'holds a text',
    'holds a text',
    'holds more than',
    'is nested more',
    'has objects with',
    undefined,
    undefined,
  ]);
});

test('a large request body that exceeds a limit is refused before the whole body has arrived', async () => {
  const body = bodyOf(async () => new TextEncoder().encode('[{},'.repeat(16 * 1024)), { ends: false });
  const request = { headers: new Headers({ 'Transfer-Encoding': 'chunked' }), body } as Request;
  await expect(createBodyAnswerer()(request, 'a', async () => undefined)).rejects.toMatchObject({
    message: expect.stringMatching(/nested more than/),
  });
});

test('a large request body that is not UTF-8 is refused before the whole body has arrived', async () => {
  const body = bodyOf(async () => new Uint8Array(64 * 1024).fill(0xff), { ends: false });
  const request = { headers: new Headers({ 'Transfer-Encoding': 'chunked' }), body } as Request;
  await expect(createBodyAnswerer()(request, 'a', async () => undefined)).rejects.toMatchObject({
    message: 'Request body must be valid JSON in UTF-8',
  });
});

test('the gateway processes large bodies of one API key one at a time, and refuses a body when too many bodies wait', async () => {
  const answerBody = createBodyAnswerer();
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const send = (bytes: number, text: () => Promise<string>, key = 'a') =>
    answerBody(newRequest({ 'Content-Length': String(bytes) }, text), key, async (body) => body);
  const large = (key?: string) => send(2 * 1024 * 1024, () => arrived.then(() => '{}'), key);
  const waiting = Array.from({ length: 11 }, () => large());
  await expect(large()).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  const ofAnother = large('b');
  expect(await send(2, () => Promise.resolve('{}'))).toEqual({});
  arrive();
  expect(await Promise.all([...waiting, ofAnother])).toEqual(Array(12).fill({}));
});

test('request bodies of medium size are processed one at a time for each API key', async () => {
  const answerBody = createBodyAnswerer();
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const send = (name: string) =>
    answerBody(
      newRequest({ 'Content-Length': '100000' }, async () => '{}'),
      name[0]!,
      () =>
        new Promise<void>((resolve) => {
          running.push(name);
          ends.push(resolve);
        }),
    );
  const answers = ['a1', 'a2', 'b1'].map(send);
  await expect.poll(() => running).toEqual(['a1', 'b1']);
  ends.shift()!();
  await expect.poll(() => running).toEqual(['a1', 'b1', 'a2']);
  ends.forEach((end) => end());
  await Promise.all(answers);
});
