import { describe, expect, test, vi } from 'vitest';
import { newId } from '../../src/ids.ts';
import { createFeedCursors, type FeedCursor } from '../../src/whitelist/feed/cursor.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

/** Creates a company with a location whose whitelist has one entry. */
async function newListedTenant() {
  const tenant = await gateway.newTenant();
  const path = `/locations/${tenant.locationId}/whitelist`;
  const { body } = await gateway.rest('POST', path, { key: tenant.key, body: newEntry() });
  return { ...tenant, path, entryId: body.data.id as string };
}

const read = (key: string, path: string, tag?: string | null, headers = {}) =>
  gateway.rest('GET', path, { key, headers: { ...(tag && { 'If-None-Match': tag }), ...headers } });

describe('conditional requests for a whitelist, with a current ETag', () => {
  test('a whitelist request with a current ETag gets status 304, the same ETag, and no body', async () => {
    const { key, path } = await newListedTenant();
    const { headers } = await read(key, path);
    const tag = headers.get('ETag')!;
    const again = await read(key, path, tag);
    expect(again).toMatchObject({ status: 304, body: '' });
    expect(again.headers.get('ETag')).toBe(tag);
    expect(again.headers.get('Content-Type')).toBeNull();
    for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'RateLimit', 'X-Request-Id']) {
      expect(again.headers.get(name), name).not.toBeNull();
    }
    expect(Number(headers.get('X-RateLimit-Remaining'))).toBe(
      Number(again.headers.get('X-RateLimit-Remaining')) + 1,
    );
    expect((await gateway.rest('HEAD', path, { key, headers: { 'If-None-Match': tag } })).status).toBe(304);
  });

  test.each(['?plateType=DXB', '?referenceId=nobody', '?limit=1'])(
    'a whitelist request with the query %s and the ETag of the previous response gets status 304 while the whitelist is unchanged',
    async (query) => {
      const { key, path } = await newListedTenant();
      const tag = (await read(key, `${path}${query}`)).headers.get('ETag');
      expect((await read(key, `${path}${query}`, tag)).status).toBe(304);
    },
  );

  test.each([
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=many', 'limit'],
    ['?cursor=nonsense', 'cursor'],
    ['?limit=1&cursor=nonsense', 'cursor'],
    ['?referenceId=%00', 'referenceId'],
    ['?plateType=%00', 'plateType'],
  ])(
    'a whitelist request with the invalid query %s gets status 400, even with a current ETag',
    async (query, field) => {
      const { key, path } = await newListedTenant();
      const tag = (await read(key, path)).headers.get('ETag');
      for (const sent of [undefined, tag, '*']) {
        const answer = await read(key, `${path}${query}`, sent);
        expect(answer).toMatchObject({
          status: 400,
          body: { error: { code: 'VALIDATION_ERROR', details: { field } } },
        });
        expect(answer.headers.get('ETag')).toBeNull();
      }
    },
  );

  test.each(['', '?limit=1', '?referenceId=nobody'])(
    'a whitelist request with the query %j gets status 304 and the current ETag when its header If-None-Match is `*`',
    async (query) => {
      const { key, path } = await newListedTenant();
      const tag = (await read(key, path)).headers.get('ETag')!;
      const answer = await read(key, `${path}${query}`, '*');
      expect(answer).toMatchObject({ status: 304, body: '' });
      const { headers } = answer;
      expect((await read(key, path, headers.get('ETag'))).status).toBe(304);
      await gateway.rest('POST', path, { key, body: newEntry() });
      for (const old of [tag, headers.get('ETag')]) expect((await read(key, path, old)).status).toBe(200);
    },
  );

  test.each(['', '?limit=1', '?referenceId=nobody'])(
    'for a response with status 304, the gateway reads no whitelist entries from the database (query %j)',
    async (query) => {
      const { key, path } = await newListedTenant();
      const tag = (await read(key, path)).headers.get('ETag');
      for (const [sent, expectedStatus, listReads] of [
        [undefined, 200, 1],
        [tag, 304, 0],
        ['*', 304, 0],
      ] as const) {
        const spy = vi.spyOn(gateway.database.sql, 'query');
        const { status } = await read(key, `${path}${query}`, sent);
        const names = spy.mock.calls.map(([{ name }]) => name);
        spy.mockRestore();
        expect(status).toBe(expectedStatus);
        expect(names.filter((name) => name.startsWith('WhitelistEntry'))).toHaveLength(listReads);
      }
    },
  );

  test('a deprecated route returns status 304 for an unchanged whitelist, with the header Deprecation', async () => {
    const { key, locationId } = await newListedTenant();
    for (const path of ['residents', 'residents/unit-1/vehicles']) {
      const { headers } = await read(key, `/locations/${locationId}/${path}`);
      const again = await read(key, `/locations/${locationId}/${path}`, headers.get('ETag'));
      expect(again.status).toBe(304);
      expect(again.headers.get('Deprecation')).toBe(headers.get('Deprecation'));
    }
  });

  test('the gateway returns status 304 for an unchanged whitelist when If-None-Match contains a weak ETag, a strong ETag or a list of ETags', async () => {
    const { key, path } = await newListedTenant();
    const tag = (await read(key, path)).headers.get('ETag')!;
    const strong = tag.replace('W/', '');
    for (const sent of [tag, strong, `"other", ${tag}`, `W/"a,b" , ${strong}`]) {
      expect((await read(key, path, sent)).status, sent).toBe(304);
    }
  });

  test('a whitelist has the same weak ETag in every compression format', async () => {
    const { key, locationId, path } = await newListedTenant();
    await prisma.whitelistEntry.createMany({
      data: Array.from({ length: 250 }, () => ({ ...newEntry(), id: newId(), locationId })),
    });
    const { headers } = await gateway.app.request(`/api${path}`, {
      headers: { 'X-API-Key': key, 'Accept-Encoding': 'gzip' },
    });
    expect(headers.get('Content-Encoding')).toBe('gzip');
    expect(headers.get('ETag')).toMatch(/^W\/"/);
    expect(headers.get('Vary')).toContain('Accept-Encoding');
    const again = await read(key, path, headers.get('ETag'), { 'Accept-Encoding': 'br' });
    expect(again.status).toBe(304);
    expect(again.headers.get('Vary')).toContain('Accept-Encoding');
  });
});

describe('conditional requests for a whitelist, with an ETag that may be outdated', () => {
  test.each<[string, (tenant: Awaited<ReturnType<typeof newListedTenant>>) => Promise<unknown>]>([
    ['an entry was added', ({ key, path }) => gateway.rest('POST', path, { key, body: newEntry() })],
    [
      'an entry was replaced',
      ({ key, path, entryId }) => gateway.rest('PUT', `${path}/${entryId}`, { key, body: newEntry() }),
    ],
    [
      'an entry was removed',
      ({ key, path, entryId }) => gateway.rest('DELETE', `${path}/${entryId}`, { key }),
    ],
    [
      'an import replaced the list',
      ({ key, locationId }) =>
        gateway.graph(
          `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
            importWhitelistEntries(locationId: $locationId, entries: $entries, mode: REPLACE) { created }
          }`,
          { key, variables: { locationId, entries: [newEntry()] } },
        ),
    ],
  ])(
    'REST sends the whitelist again when the ETag of the client is outdated (%s), even if the client filters the list',
    async (_, change) => {
      const tenant = await newListedTenant();
      const { key, path } = tenant;
      const tag = (await read(key, path)).headers.get('ETag')!;
      await change(tenant);
      for (const query of ['', '?referenceId=nobody']) {
        const answer = await read(key, `${path}${query}`, tag);
        expect(answer).toMatchObject({ status: 200, body: { success: true } });
        expect((await read(key, `${path}${query}`, answer.headers.get('ETag'))).status).toBe(304);
      }
    },
  );

  test.each([
    ['the first page', '?limit=1', 'WhitelistEntry-page'],
    ['a later page', '', 'WhitelistEntry-json'],
  ])(
    'when an entry is added while the gateway reads %s of a whitelist, the ETag of this response does not count as current in the next request',
    async (_, query, statementName) => {
      const { key, path, locationId } = await newListedTenant();
      await prisma.whitelistEntry.createMany({
        data: Array.from({ length: 300 }, () => ({ ...newEntry(), id: newId(), locationId })),
      });
      const { sql } = gateway.database;
      const runStatement = sql.query.bind(sql);
      const later = query === '';
      let added = false;
      const spy = vi.spyOn(sql, 'query').mockImplementation(async (statement, values) => {
        const isPart =
          statement.name.startsWith(statementName) && (!later || statement.text.includes('q.after'));
        if (!added && isPart) {
          added = true;
          await prisma.whitelistEntry.create({ data: { ...newEntry(), id: newId(), locationId } });
        }
        return runStatement(statement, values);
      });
      const { headers } = await read(key, `${path}${query}`);
      spy.mockRestore();
      expect(added).toBe(true);
      expect((await read(key, `${path}${query}`, headers.get('ETag'))).status).toBe(200);
    },
  );

  test.each([
    ['a tag of another server', () => '"33a64df551425fcc55e4d42a148795d9f25f89d4"'],
    ['a text that is no tag', () => 'nonsense'],
    ['an empty tag', () => 'W/""'],
    ['a tag of another location', (other: string) => other],
    ['a tag of a release before 1.6.0', (_: string, own: string) => `${own.split('.')[0]}"`],
    [
      'a tag older than the retained changes',
      (_: string, own: string) => {
        const feedCursors = createFeedCursors(gateway.config.keyPepper);
        const cursor = feedCursors.decode(own.slice(3, -1)) as FeedCursor;
        const next = { ...cursor.next, takenAt: '2020-01-01T00:00:00.000Z' };
        return `W/"${feedCursors.encode({ ...cursor, next })}"`;
      },
    ],
  ])('REST sends the whole whitelist when the header If-None-Match contains %s', async (_, tagOf) => {
    const { key, path } = await newListedTenant();
    const other = await newListedTenant();
    const tag = tagOf(
      (await read(other.key, other.path)).headers.get('ETag')!,
      (await read(key, path)).headers.get('ETag')!,
    );
    expect(await read(key, path, tag)).toMatchObject({ status: 200, body: { data: [{}] } });
  });
});

test("even with a current ETag, a whitelist request is refused without the permission READ_WHITELIST, or for a location outside the API key's scope", async () => {
  const { key, path, companyId } = await newListedTenant();
  const tag = (await read(key, path)).headers.get('ETag');
  const { key: outsider } = await gateway.newTenant();
  const writer = await gateway.newKey({ companyIds: [companyId], permissions: ['WRITE_WHITELIST'] });
  for (const [asking, status, code] of [
    [outsider, 404, 'NOT_FOUND'],
    [writer, 403, 'FORBIDDEN'],
  ] as const) {
    for (const sent of [tag, '*']) {
      const answer = await read(asking, path, sent);
      expect(answer).toMatchObject({ status, body: { error: { code } } });
      expect(answer.headers.get('ETag')).toBeNull();
    }
  }
});

test('whitelistCursor returns a feed cursor, with which a client can read all later changes of the whitelist', async () => {
  const { key, locationId, path } = await newListedTenant();
  const { body } = await gateway.graph(
    'query ($locationId: ID!) { whitelistCursor(locationId: $locationId) }',
    { key, variables: { locationId } },
  );
  const added = await gateway.rest('POST', path, { key, body: newEntry() });
  const changes = await gateway.graph(
    `query ($locationId: ID!, $after: String) {
      whitelistChanges(locationId: $locationId, after: $after) { upserts { id } reset }
    }`,
    { key, variables: { locationId, after: body.data.whitelistCursor } },
  );
  expect(changes.body.data.whitelistChanges).toEqual({ upserts: [{ id: added.body.data.id }], reset: false });
});
