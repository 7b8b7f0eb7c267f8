import { describe, expect, test } from 'vitest';
import { routes } from '../../rest/routes.ts';
import { newId } from '../../src/ids.ts';
import { everyPermission, newEntry, newSlug, sharedTestGateway } from '../support/harness.ts';
import { type Operation, surfaceNames, surfaces } from '../support/surfaces.ts';

const gateway = await sharedTestGateway();

/** Every documented REST endpoint, with its equivalent GraphQL operation. */
function operations(
  companyId: string,
  locationId: string,
  whitelistId: string,
): (Operation & { route: string })[] {
  const entry = newEntry();
  const company = { name: 'Al Noor Parking', slug: newSlug(), address: 'Dubai' };
  const location = { name: 'Gate', slug: newSlug(), companyId };
  const at = `/locations/${locationId}`;
  const list = (argument: string) =>
    `query ($locationId: ID!) { whitelist(locationId: $locationId${argument}) { nodes { id } } }`;
  const create = `mutation ($locationId: ID!, $input: WhitelistEntryInput!) {
    createWhitelistEntry(locationId: $locationId, input: $input) { id } }`;
  const rows: Record<string, Omit<Operation, 'name' | 'rest'> & { body?: unknown; path?: string }> = {
    'GET /health': { graph: { query: '{ health { status } }' } },
    'POST /register/company': {
      permission: 'REGISTER_COMPANIES',
      body: company,
      graph: {
        query: 'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }',
        variables: { input: { ...company, slug: newSlug() } },
      },
    },
    'GET /companies': { permission: 'READ_COMPANIES', graph: { query: '{ companies { nodes { id } } }' } },
    'GET /locations': { permission: 'READ_LOCATIONS', graph: { query: '{ locations { nodes { id } } }' } },
    'POST /locations': {
      permission: 'WRITE_LOCATIONS',
      body: location,
      graph: {
        query: 'mutation ($input: CreateLocationInput!) { createLocation(input: $input) { id } }',
        variables: { input: { ...location, slug: newSlug() } },
      },
    },
    'GET /locations/status': {
      permission: 'READ_STATUS',
      graph: { query: '{ locationStatuses { locationId } }' },
    },
    'PUT /locations/{locationId}': {
      permission: 'WRITE_LOCATIONS',
      location: true,
      body: { name: 'New name' },
      graph: {
        query: `mutation ($id: ID!, $input: UpdateLocationInput!) { updateLocation(id: $id, input: $input) { id } }`,
        variables: { id: locationId, input: { name: 'New name' } },
      },
    },
    'GET /locations/{locationId}/status': {
      permission: 'READ_STATUS',
      location: true,
      graph: {
        query: 'query ($locationId: ID!) { locationStatus(locationId: $locationId) { state } }',
        variables: { locationId },
      },
    },
    'GET /locations/{locationId}/whitelist': {
      permission: 'READ_WHITELIST',
      location: true,
      graph: { query: list(''), variables: { locationId } },
    },
    'POST /locations/{locationId}/whitelist': {
      permission: 'WRITE_WHITELIST',
      location: true,
      body: entry,
      graph: { query: create, variables: { locationId, input: newEntry() } },
    },
    'PUT /locations/{locationId}/whitelist/{whitelistId}': {
      permission: 'WRITE_WHITELIST',
      location: true,
      body: newEntry(),
      graph: {
        query: `mutation ($locationId: ID!, $id: ID!, $input: WhitelistEntryInput!) {
          updateWhitelistEntry(locationId: $locationId, id: $id, input: $input) { id } }`,
        variables: { locationId, id: whitelistId, input: newEntry() },
      },
    },
    'DELETE /locations/{locationId}/whitelist/{whitelistId}': {
      permission: 'WRITE_WHITELIST',
      location: true,
      graph: {
        query: `mutation ($locationId: ID!, $id: ID!) { deleteWhitelistEntry(locationId: $locationId, id: $id) { id } }`,
        variables: { locationId, id: whitelistId },
      },
    },
    'GET /locations/{locationId}/residents': {
      permission: 'READ_WHITELIST',
      location: true,
      graph: { query: list(''), variables: { locationId } },
    },
    'POST /locations/{locationId}/residents': {
      permission: 'WRITE_WHITELIST',
      location: true,
      body: newEntry(),
      graph: { query: create, variables: { locationId, input: newEntry() } },
    },
    'GET /locations/{locationId}/residents/{residentId}/vehicles': {
      permission: 'READ_WHITELIST',
      location: true,
      path: `${at}/residents/unit-1/vehicles`,
      graph: { query: list(', referenceId: "unit-1"'), variables: { locationId } },
    },
  };
  return routes.map(({ method, path }) => {
    const route = `${method} ${path}`;
    const row = rows[route];
    if (!row) throw new Error(`No case for ${route}`);
    const { body, path: concretePath, ...operation } = row;
    const concrete = path.replace('{locationId}', locationId).replace('{whitelistId}', whitelistId);
    return { ...operation, route, name: route, rest: { method, path: concretePath ?? concrete, body } };
  });
}

/**
 * Creates a company with one whitelist entry, and returns every documented operation with the ids of the new company.
 */
async function newCase(locationId?: string) {
  const tenant = await gateway.newTenant();
  const created = await gateway.rest('POST', `/locations/${tenant.locationId}/whitelist`, {
    key: tenant.key,
    body: newEntry({ referenceId: 'unit-1' }),
  });
  return {
    ...tenant,
    operations: operations(tenant.companyId, locationId ?? tenant.locationId, created.body.data.id),
  };
}

const rateHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

describe.each(surfaceNames)('every documented operation over %s', (surface) => {
  const call = surfaces[surface];

  test('every documented operation refuses a request without an API key', async () => {
    for (const operation of (await newCase()).operations) {
      const answer = await call(gateway, operation);
      expect(answer, operation.name).toMatchObject({
        status: 401,
        code: 'UNAUTHORIZED',
        message: 'API key is required',
      });
      for (const header of rateHeaders) expect(answer.headers.get(header), operation.name).toMatch(/^\d+$/);
    }
  });

  test('every documented operation returns the same error for an unknown API key and for a malformed API key', async () => {
    const unknown = await gateway.newKey({ environment: 'production' });
    for (const operation of (await newCase()).operations) {
      for (const key of [unknown, `${unknown}x`, 'nonsense']) {
        expect(await call(gateway, operation, key), operation.name).toMatchObject({
          status: 401,
          code: 'UNAUTHORIZED',
          message: 'Invalid or missing API key',
        });
      }
    }
  });

  test('every documented operation refuses an API key that lacks the documented permission', async () => {
    const { operations: all, companyId } = await newCase();
    for (const operation of all.filter(({ permission }) => permission)) {
      const key = await gateway.newKey({
        companyIds: [companyId],
        permissions: everyPermission.filter((permission) => permission !== operation.permission),
      });
      const answer = await call(gateway, operation, key);
      expect(answer, operation.name).toMatchObject({
        status: surface === 'rest' ? 403 : 200,
        code: 'FORBIDDEN',
      });
    }
  });

  test('every documented operation returns the same error for a location of another company as for an unknown location', async () => {
    const outsider = await gateway.newTenant();
    const foreign = await newCase();
    const unknownId = newId();
    const unknown = await newCase(unknownId);
    for (const [index, operation] of foreign.operations.entries()) {
      if (!operation.location) continue;
      const hidden = await call(gateway, operation, outsider.key);
      const missing = await call(gateway, unknown.operations[index]!, outsider.key);
      expect(hidden, operation.name).toMatchObject({
        status: surface === 'rest' ? 404 : 200,
        code: 'NOT_FOUND',
        message: 'Location not found or not accessible',
        details: { field: 'locationId' },
      });
      const bytes = (answer: typeof hidden, id: string) =>
        JSON.stringify(answer.body)
          .replaceAll(id, 'ID')
          .replaceAll(answer.headers.get('X-Request-Id')!, 'REQUEST');
      expect(bytes(hidden, foreign.locationId)).toBe(bytes(missing, unknownId));
    }
  });

  test('every documented operation responds with the documented success status, and with headers that show the rate limit', async () => {
    const { operations: all, key } = await newCase();
    for (const operation of all) {
      const answer = await call(gateway, operation, key);
      const created = operation.rest.method === 'POST' && surface === 'rest';
      expect(answer.status, `${operation.name} ${JSON.stringify(answer.body)}`).toBe(created ? 201 : 200);
      expect(answer.code, operation.name).toBeUndefined();
      for (const header of rateHeaders) expect(answer.headers.get(header), operation.name).toMatch(/^\d+$/);
    }
  });
});
