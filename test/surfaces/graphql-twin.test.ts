import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { renderRest, restNamesOf } from '../../rest/adapter.ts';
import { type Route, routes } from '../../rest/routes.ts';
import { slug } from '../../schema/rules.ts';
import { ServiceError } from '../../src/errors/error-table.ts';
import { newId } from '../../src/ids.ts';
import { type Answer, newEntry, newSlug, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

const Accept = 'application/graphql-request+json';

/**
 * One of the two companies whose responses a test compares. The test sends REST requests for one company, and the
 * equivalent GraphQL requests for the other company.
 */
type World = Awaited<ReturnType<typeof newWorlds>>[number];

/** Creates two companies whose whitelists are equal, except for the ids. */
async function newWorlds() {
  const tenants = [await gateway.newTenant(), await gateway.newTenant()];
  const entries = Array.from({ length: 4 }, (_, index) => newEntry({ referenceId: `r${index % 2}` }));
  return Promise.all(
    tenants.map(async (tenant) => {
      const entryIds = [...entries.map(() => newId())].sort();
      await prisma.whitelistEntry.createMany({
        data: entries.map((entry, index) => ({
          ...entry,
          id: entryIds[index]!,
          locationId: tenant.locationId,
        })),
      });
      return { ...tenant, entryIds };
    }),
  );
}

/** Generates values, mostly invalid, that a client may send instead of a valid value. */
const anything = fc.oneof(fc.constant(null), fc.constant(''), fc.integer(), fc.string(), fc.boolean());
const mostly = (...values: unknown[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: anything });
const bodyOf = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    { weight: 4, arbitrary: fc.record(fields) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>([], null, 'text', 7) },
  );

const entryBody = bodyOf({
  referenceId: mostly('r1', 'r2'),
  plateType: mostly('DXB', 'AUH'),
  plateCode: mostly('A', 'B'),
  plateNumber: mostly('1', '2', '3'),
  note: mostly('note', null),
  validFrom: mostly('2026-01-31T08:00:00+04:00'),
  unknown: anything,
});
const locationFields = {
  name: mostly('Marina Walk'),
  slug: mostly('one', 'two', 'three', 'four'),
  capacity: mostly(0, 250),
  timezone: mostly('Asia/Dubai'),
};

/**
 * The test creates random request bodies for REST routes. This object maps the summary of each route to the generator
 * of its request bodies.
 */
const bodies: Record<string, fc.Arbitrary<unknown>> = {
  'Register company': bodyOf({
    name: mostly('Marina Parking'),
    // In each request, the test replaces `SLUG` with a new slug, because no two companies may have the same slug.
    slug: mostly('SLUG').map((value) => (slug('').safeParse(value).success ? 'SLUG' : value)),
    address: mostly('Dubai'),
    settings: mostly({ currency: 'AED' }),
    phone: mostly('+971 4 1234567'),
  }),
  'Create location': bodyOf({ ...locationFields, companyId: mostly(null) }),
  'Update location': bodyOf(locationFields),
  'Create whitelist entry': entryBody,
  'Replace whitelist entry': entryBody,
  'Create resident': bodyOf({
    ...{ residentId: mostly('r1') },
    plateType: mostly('DXB'),
    plateCode: mostly('A'),
    plateNumber: mostly('1', '2'),
  }),
};

const queryParameters = fc.record(
  {
    referenceId: fc.constantFrom('r0', 'r1', 'nobody', ''),
    plateType: fc.constantFrom('DXB', 'AUH'),
    limit: fc.constantFrom('1', '2', '100', '0', '101', 'many', ''),
    cursor: fc.constantFrom('first', 'nonsense', ''),
  },
  { requiredKeys: [] },
);

/**
 * Generates a random REST request: its query parameters, its body, and the whitelist entry and the location in its
 * path. The test sends this REST request for one company, and the equivalent GraphQL request for another company.
 */
const question = ({ summary, list }: Route) =>
  fc.record({
    query: list ? queryParameters : fc.constant({}),
    body: bodies[summary] ?? fc.constant(undefined),
    entry: fc.nat(4), // The whitelist has four entries (0 to 3), so 4 stands for an unknown whitelist entry.
    isKnownLocation: fc.nat(9).map((n) => n > 0),
  });

type Question = typeof question extends (route: Route) => fc.Arbitrary<infer Asked> ? Asked : never;

const unknownId = newId();

/** Returns the path and the options of a REST request for one of the two companies. */
function requestOf({ path }: Route, { query, body, entry, isKnownLocation }: Question, world: World) {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [
      name,
      value === 'first' ? Buffer.from(world.entryIds[0]!).toString('base64url') : String(value),
    ]),
  );
  const address = path
    .replace('{locationId}', isKnownLocation ? world.locationId : unknownId)
    .replace('{whitelistId}', world.entryIds[entry] ?? unknownId)
    .replace('{residentId}', 'r1');
  const wanted = (body as { slug?: unknown } | null | undefined)?.slug;
  const sent = wanted === 'SLUG' ? { ...(body as object), slug: newSlug() } : body;
  return {
    path: `${address}?${parameters}`,
    options: { key: world.key, ...(sent !== undefined && { body: JSON.stringify(sent) }) },
  };
}

/** Converts a GraphQL response into the body of a REST response with the same data. */
function envelopeOf(route: Route, { body }: Answer, asked: Question): unknown {
  const query: Record<string, unknown> = asked.query;
  const [error] = body.errors ?? [];
  if (error) {
    const { code, details } = error.extensions;
    const source = { requestId: 'test', log: pino({ level: 'silent' }) };
    const params: Record<string, string> = route.path.includes('{residentId}') ? { residentId: 'r1' } : {};
    const names = restNamesOf(route, { params, body: asked.body });
    const { body: render } = renderRest(new ServiceError(code, error.message, details), source, names);
    return JSON.parse((render as (requestId: string) => string)(error.extensions.requestId));
  }
  const data = body.data as never;
  if (route.bare) return route.bare(data);
  if (!route.list) return { success: true, ...(route.envelope!(data) as object) };
  const { nodes, pageInfo } = route.list(data);
  const isPage = query.limit || query.cursor;
  const nextCursor = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  return { success: true, data: nodes, ...(isPage ? { nextCursor } : {}) };
}

const ofWorld = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$|^test-\d+-/;
const ownFields = [
  'createdAt',
  'updatedAt',
  'timestamp',
  'nextCursor',
  'companyId',
  'slug',
  'lastActivityAt',
];

/**
 * Replaces ids, slugs, cursors and times in a response body. The test can then compare the responses for two companies.
 */
const common = (body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      typeof value === 'string' && (ofWorld.test(value) || ownFields.includes(name)) ? `<${name}>` : value,
    ),
  );

const countRows = async () =>
  Promise.all([
    prisma.company.count(),
    prisma.location.count(),
    prisma.whitelistEntry.count(),
    prisma.auditRecord.count(),
  ]);

describe('the equivalent GraphQL request of a REST request', () => {
  test.each(routes.map((route) => ({ name: `${route.method} ${route.path}`, route })))(
    'when a client asks the REST endpoint $name for the equivalent GraphQL request, no data changes, and the GraphQL request later has the same result',
    async ({ route }) => {
      const [restWorld, twinWorld] = await newWorlds();
      await fc.assert(
        fc.asyncProperty(question(route), async (asked) => {
          const ofRest = requestOf(route, asked, restWorld!);
          const ofTwin = requestOf(route, asked, twinWorld!);
          const before = await countRows();
          const twin = await gateway.rest(route.method, ofTwin.path, {
            ...ofTwin.options,
            headers: { Accept },
          });
          expect(await countRows()).toEqual(before);

          const answer = await gateway.rest(route.method, ofRest.path, ofRest.options);
          if (twin.status !== 200) {
            expect(common(twin.body)).toEqual(common(answer.body));
            return;
          }
          expect(twin.headers.get('Content-Type')).toBe(Accept);
          expect(Object.keys(twin.body).sort()).toEqual(['operationName', 'query', 'variables']);
          const served = await gateway.app.request('/graphql', {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', 'X-API-Key': twinWorld!.key },
            body: JSON.stringify(twin.body),
          });
          const result = { status: served.status, headers: served.headers, body: await served.json() };
          expect(common(envelopeOf(route, result, asked))).toEqual(common(answer.body));
        }),
        { numRuns: 12 },
      );
    },
  );

  test('a client with any valid API key can ask for the GraphQL equivalent of a REST request; this costs one rate limit point', async () => {
    const { locationId } = await gateway.newTenant();
    const path = `/locations/${locationId}/whitelist`;
    const key = await gateway.newKey({ permissions: ['READ_STATUS'] });
    const before = await gateway.rest('GET', '/health', { key });
    const twin = await gateway.rest('GET', path, { key, headers: { Accept } });
    expect(twin).toMatchObject({ status: 200, body: { variables: { locationId, first: 100 } } });
    const remaining = ({ headers }: Answer) => Number(headers.get('X-RateLimit-Remaining'));
    expect(remaining(before) - remaining(twin)).toBe(1);
    expect((await gateway.rest('GET', path, { headers: { Accept } })).status).toBe(401);
  });

  test.each([
    [`text/html, ${Accept}`, true],
    [`application/json;q=0.5, ${Accept}`, true],
    [`${Accept};q=0.5, application/json`, false],
    ['*/*', false],
  ])(
    'when the header Accept of a REST request is %s, the response contains the equivalent GraphQL request: %s',
    async (accept, isWanted) => {
      const { key } = await gateway.newTenant();
      const { body } = await gateway.rest('GET', '/health', { key, headers: { Accept: accept } });
      expect('query' in body).toBe(isWanted);
    },
  );

  test.each([
    ['POST', 'register/company', 'settings', '{ "limits": [12345678901234567890] }'],
    ['POST', 'register/company', 'settings', '{ "limit": 1e400 }'],
    ['POST', 'locations', 'capacity', '1e400'],
    ['PUT', 'locations', 'capacity', '1e400'],
  ])(
    'the REST request %s /%s is refused when parsing would change a number (%s: %s), even when the client asks only for the equivalent GraphQL request',
    async (method, target, field, number) => {
      const { key, companyId, locationId } = await gateway.newTenant();
      const registrar = await gateway.newKey();
      const path = method === 'PUT' ? `/${target}/${locationId}` : `/${target}`;
      const body = `{ "name": "Marina", "slug": "${newSlug()}", "address": "Dubai", "companyId": "${companyId}", "${field}": ${number} }`;
      const ask = async (headers: Record<string, string>) => {
        const response = await gateway.app.request(`/api${path}`, {
          method,
          headers: {
            'Content-Type': 'application/json',
            'X-API-Key': target === 'locations' ? key : registrar,
            ...headers,
          },
          body,
        });
        return { status: response.status, body: await response.json() };
      };
      const refused = await ask({});
      expect(refused).toMatchObject({ status: 400, body: { error: { details: { field } } } });
      const twin = await ask({ Accept });
      expect([twin.status, common(twin.body)]).toEqual([400, common(refused.body)]);
    },
  );
});
