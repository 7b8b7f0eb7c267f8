import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { createUsageReads } from '../../src/usage/reads.ts';
import { openTestGateway } from '../support/harness.ts';
import { statementsOf } from '../support/statements.ts';

const operator = 'operator-key-of-the-tests-0123456789';
const gateway = await openTestGateway({ OPERATOR_API_KEY: operator });
const { prisma } = gateway.database;

const hour = 3_600_000;
const thisHour = Math.floor(Date.now() / hour) * hour;
const at = (hours: number, minutes = 0) => new Date(thisHour + hours * hour + minutes * 60_000);

async function keyWithId(options = {}) {
  const key = await gateway.newKey(options);
  const { body } = await gateway.graph('{ viewer { id } }', { key });
  const id: string = body.data.viewer.id;
  return { key, id };
}

/**
 * Stores usage records of an API key, as the gateway does for requests. Each element of `requests` describes one
 * request: its time, operation, status, surface (`rest` or `graphql`) and error code.
 */
async function used(apiKeyId: string, ...requests: [Date, string, number, string?, string?][]) {
  await prisma.usageRecord.createMany({
    data: requests.map(([createdAt, operation, status, surface = 'rest', errorCode]) => ({
      errorCode,
      apiKeyId,
      requestId: newId(),
      surface,
      operation,
      status,
      durationMs: 1,
      address: 'test',
      createdAt,
    })),
  });
}

const bucket = '{ hour surface operation requests refused errors }';

/** Sends a request with an API key, and returns the usage of this API key in a time range. */
async function ownUsage(key: string, from?: Date, to?: Date) {
  const { body } = await gateway.graph(
    `query ($from: DateTime, $to: DateTime) { viewer { usage(from: $from, to: $to) ${bucket} } }`,
    { key, variables: { from, to } },
  );
  return body.errors ? body.errors[0].extensions : body.data.viewer.usage;
}

describe('equal selections of the field `usage` in one request', () => {
  test('when one request selects the field `usage` several times with equal arguments, all results are equal', async () => {
    const { key, id } = await keyWithId();
    await used(id, [at(-1, 5), 'GET /status', 200]);
    const aliases = Array.from({ length: 20 }, (_, n) => `usage${n}: usage ${bucket}`).join(' ');
    const { body } = await gateway.graph(`{ viewer { ${aliases} } }`, { key });
    expect(Object.values(body.data.viewer)).toHaveLength(20);
    for (const usage of Object.values(body.data.viewer)) {
      expect(usage).toContainEqual(expect.objectContaining({ operation: 'GET /status', requests: 1 }));
    }
  });

  test('equal selections of the field `usage` in one request cause one database query', async () => {
    const { id } = await keyWithId();
    const runs: (readonly unknown[])[] = [];
    const { sql } = gateway.database;
    const usage = createUsageReads({
      deprecated: [],
      sql: {
        query(statement, values) {
          runs.push(values);
          return sql.query(statement, values);
        },
      },
    });
    const reader = {};
    const question = { apiKeyId: id, from: at(-2, 0), to: at(0, 0) };
    await Promise.all(Array.from({ length: 20 }, () => usage.byHour(question, reader)));
    expect(runs).toHaveLength(1);
    expect(runs[0]![0]).toEqual([id]);
  });
});

test('a query whose response has more than 20,000 usage rows is refused', async () => {
  const { key, id } = await keyWithId();
  const rows = 12_000;
  await gateway.database.sql.query(
    {
      name: '',
      text: `INSERT INTO "UsageTotal" ("apiKeyId", hour, operation, surface, status, "errorCode", requests, "lastUsedAt")
        SELECT $1, date_trunc('hour', $2::timestamptz), 'query ' || i, 'graphql', 200, '', 1, now() FROM generate_series(1, $3::int) i`,
    },
    [id, at(-2), rows],
  );
  const field = (alias: string, from: Date) =>
    `${alias}: usage(from: "${from.toISOString()}", to: "${at(0).toISOString()}") { operation }`;
  const { body } = await gateway.graph(`{ viewer { ${field('a', at(-3))} } }`, { key });
  expect(body.data.viewer.a).toHaveLength(rows);
  expect(new Set(body.data.viewer.a.map(({ operation }: { operation: string }) => operation)).size).toBe(
    rows,
  );
  const { errors } = (
    await gateway.graph(`{ viewer { ${field('a', at(-3))} ${field('b', at(-4))} ${field('c', at(-5))} } }`, {
      key,
    })
  ).body;
  expect(errors[0].extensions.code).toBe('VALIDATION_ERROR');
  expect(errors[0].message).toBe('The usage has more than 20000 rows; request a shorter time range');
});

test('when a query selects the field `usage` several times, the result of each selection contains each usage row once, in the order of time', async () => {
  const { key, id } = await keyWithId();
  await gateway.database.sql.query(
    {
      name: '',
      text: `INSERT INTO "UsageTotal" ("apiKeyId", hour, operation, surface, status, "errorCode", requests, "lastUsedAt")
        SELECT $1, $2::timestamptz + h * interval '1 hour', 'query ' || o, surface, status, '', 1, now()
        FROM generate_series(0, 9) h, generate_series(1, 170) o, unnest('{graphql,rest}'::text[]) surface,
          unnest('{200,404}'::int[]) status`,
    },
    [id, at(-12)],
  );
  interface Row {
    hour: string;
    operation: string;
    surface: string;
    requests: number;
  }
  const periods = [at(-12), at(-4), at(-10)].map((from, index) => ({ from, alias: `a${index}` }));
  const fields = periods.map(
    ({ from, alias }) =>
      `${alias}: usage(from: "${from.toISOString()}", to: "${at(-1).toISOString()}") { hour operation surface requests }`,
  );
  const { body } = await gateway.graph(`{ viewer { ${fields.join(' ')} } }`, { key });
  for (const { from, alias } of periods) {
    const rows: Row[] = body.data.viewer[alias];
    const names = rows.map(({ hour, operation, surface }) => `${hour} ${operation} ${surface}`);
    const hours = (at(-2).getTime() - from.getTime()) / hour;
    expect([names.length, new Set(names).size]).toEqual([hours * 340, hours * 340]);
    expect(rows.every(({ requests }) => requests === 2)).toBe(true);
    expect(rows.map(({ hour }) => hour)).toEqual(rows.map(({ hour }) => hour).toSorted());
  }
});

describe('usage of an API key', () => {
  test('the field `usage` counts requests, refusals and errors by hour, by operation, and by REST or GraphQL', async () => {
    const { key, id } = await keyWithId({ permissions: ['READ_STATUS'] });
    await used(
      id,
      [at(-2, 59), 'GET /status', 200],
      [at(-2, 0), 'GET /status', 429],
      [at(-2, 1), 'GET /status', 403],
      [at(-2, 2), 'GET /status', 404],
      [at(-2, 3), 'GET /status', 500],
      [at(-2, 4), 'GET /a', 200, 'rest'],
      [at(-2, 5), 'GET /a', 200, 'graphql'],
      [at(-3, 59), 'unknown', 429],
      [at(-3, 1), 'query location', 200, 'graphql', 'NOT_FOUND'],
      [at(-3, 2), 'query location', 200, 'graphql', 'FORBIDDEN'],
      [at(-5), 'before', 200],
      [at(0), 'after', 200],
    );
    const row = (hours: number, surface: string, operation: string, counts: number[]) => ({
      hour: at(hours).toISOString(),
      surface,
      operation,
      requests: counts[0],
      refused: counts[1],
      errors: counts[2],
    });
    expect(await ownUsage(key, at(-4), at(0))).toEqual([
      row(-3, 'graphql', 'query location', [2, 1, 1]),
      row(-3, 'rest', 'unknown', [1, 1, 0]),
      row(-2, 'graphql', 'GET /a', [1, 0, 0]),
      row(-2, 'rest', 'GET /a', [1, 0, 0]),
      row(-2, 'rest', 'GET /status', [5, 2, 2]),
    ]);
  });

  test('the field `usage` covers the last 24 hours when the query contains no time range', async () => {
    const { key, id } = await keyWithId();
    await used(id, [at(-26), 'old', 200], [at(-20), 'new', 200]);
    const operations = (await ownUsage(key)).map(({ operation }: { operation: string }) => operation);
    expect(operations).toContain('new');
    expect(operations).not.toContain('old');
    const earlier = await ownUsage(key, undefined, at(-21));
    expect(earlier.map(({ operation }: { operation: string }) => operation)).toEqual(['old']);
  });

  test('the field `usage` counts requests that the gateway refused before execution', async () => {
    const { key, id } = await keyWithId({ burstLimit: 3 });
    await gateway.rest('GET', '/health', { key });
    await gateway.rest('GET', '/health', { key });
    expect((await gateway.rest('GET', '/health', { key })).status).toBe(429);
    const seen = async () => {
      const { body } = await gateway.graph(`query ($id: ID!) { apiKey(id: $id) { usage ${bucket} } }`, {
        key: operator,
        variables: { id },
      });
      return body.data.apiKey.usage;
    };
    await expect.poll(async () => (await seen()).length).toBe(3);
    expect(await seen()).toMatchObject([
      { operation: 'GET /health', requests: 2, refused: 0 },
      { operation: 'query viewer', requests: 1, refused: 0 },
      { operation: 'unknown', requests: 1, refused: 1 },
    ]);
  });

  test.each([
    ['an end before the start', at(0), at(-1)],
    ['a start in the future', at(48), undefined],
    ['more than 31 days', at(-31 * 24 - 1), at(0)],
  ])('the field `usage` refuses a time range with %s', async (_, from, to) => {
    const { key } = await keyWithId();
    expect(await ownUsage(key, from, to)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'from' },
    });
  });

  test('the field `usage` accepts a time range of 31 days', async () => {
    const { key } = await keyWithId();
    expect(await ownUsage(key, at(-31 * 24), at(0))).toEqual([]);
  });

  test('the gateway reads the usage of all API keys on a page with one SQL statement', async () => {
    const { companyId } = await gateway.newTenant();
    const { key: admin } = await keyWithId({ companyIds: [companyId], permissions: ['ADMIN'] });
    const own = await Promise.all([1, 2, 3].map(() => keyWithId({ companyIds: [companyId] })));
    await Promise.all(own.map(({ id }, index) => used(id, [at(-1), `operation ${index}`, 200])));
    let usage: { id: string; usage: { operation: string }[] }[] = [];
    const statements = await statementsOf(async () => {
      const { body } = await gateway.graph(
        `query ($from: DateTime, $to: DateTime) {
          apiKeys { nodes { id usage(from: $from, to: $to) { operation } } } }`,
        { key: admin, variables: { from: at(-1), to: at(0) } },
      );
      usage = body.data.apiKeys.nodes;
    });
    for (const [index, { id }] of own.entries()) {
      expect(usage.find((found) => found.id === id)?.usage).toEqual([{ operation: `operation ${index}` }]);
    }
    expect(statements.filter((text) => text.includes('FROM unnest') && text.includes('hour'))).toHaveLength(
      1,
    );
  });
});

describe('reading one API key by its id', () => {
  const find = async (key: string, id: string) => {
    const { body } = await gateway.graph('query ($id: ID!) { apiKey(id: $id) { id } }', {
      key,
      variables: { id },
    });
    return body.errors?.[0].extensions ?? body.data.apiKey;
  };

  test('with the permission ADMIN, an API key can read the API keys of its company by id, and gets NOT_FOUND for all other ids', async () => {
    const { companyId } = await gateway.newTenant();
    const { id } = await keyWithId({ companyIds: [companyId] });
    const admin = await gateway.newKey({ companyIds: [companyId], permissions: ['ADMIN'] });
    const outsider = (await gateway.newTenant()).key;
    expect(await find(admin, id)).toEqual({ id });
    for (const [key, wanted] of [
      [outsider, id],
      [admin, newId()],
      [admin, 'no id'],
    ] as const) {
      expect(await find(key, wanted)).toMatchObject({ code: 'NOT_FOUND', details: { field: 'id' } });
    }
  });

  test('an API key needs the permission ADMIN even to read itself by its id', async () => {
    const { key, id } = await keyWithId({ permissions: ['READ_STATUS'] });
    expect(await find(key, id)).toMatchObject({ code: 'FORBIDDEN' });
  });
});
