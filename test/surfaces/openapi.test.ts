import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { createOpenApi, type OpenApiOperation } from '../../rest/openapi.ts';
import { routes } from '../../rest/routes.ts';
import { schema } from '../../schema/index.ts';
import { newId } from '../../src/ids.ts';
import { type Answer, newEntry, newSlug, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const document = createOpenApi(schema);

const pointer = (...path: string[]) =>
  `#/${path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;

/** The documented REST operations, each with the path to its description in the OpenAPI document. */
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    operation,
    at: ['paths', path, method],
  })),
);
type Documented = (typeof operations)[number];

const named = (name: string) => operations.find((candidate) => candidate.name === name)!;

/**
 * Validates values against the schemas of the OpenAPI document, and also refuses objects with undocumented properties.
 */
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const $id = 'https://gateway.example/openapi.json';
const closed = JSON.parse(JSON.stringify(document), (_, value) =>
  value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
) as object;
ajv.addSchema({ ...closed, $id }, undefined, false, false);

function faultsOf(at: string[], value: unknown): unknown {
  const validate = ajv.getSchema(`${$id}${pointer(...at, 'content', 'application/json', 'schema')}`);
  if (!validate) throw new Error(`The document has no schema at ${at.join(' ')}`);
  return validate(value) ? undefined : validate.errors;
}

/**
 * Finds the response with the given status in the OpenAPI document, and returns its path as a list of property names.
 */
function responseAt({ at, operation }: Documented, status: number): string[] {
  const $ref = operation.responses[status]?.$ref as string | undefined;
  return $ref ? $ref.slice(2).split('/') : [...at, 'responses', String(status)];
}

function at(path: string[]): Record<string, unknown> | undefined {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], document) as never;
}

function expectDocumented(documented: Documented, answer: Answer): void {
  const place = responseAt(documented, answer.status);
  const context = `${documented.name} ${answer.status} ${JSON.stringify(answer.body)}`;
  expect(at(place), context).toBeDefined();
  expect(faultsOf(place, answer.body), context).toBeUndefined();
  for (const header of Object.keys(at(place)!.headers as object)) {
    expect(answer.headers.get(header), `${documented.name} ${header}`).toBeTruthy();
  }
}

type Body = Record<string, unknown>;

/**
 * Returns the documented examples of an operation's request body, or `[undefined]` when the operation has no request
 * body.
 */
function examplesOf({ requestBody }: OpenApiOperation): (Body | undefined)[] {
  if (!requestBody) return [undefined];
  const { content } = requestBody as {
    content: { 'application/json': { examples: Record<string, { value: Body }> } };
  };
  return Object.values(content['application/json'].examples).map(({ value }) => value);
}

/**
 * Creates a company with one whitelist entry, and a function that calls REST operations on the data of this company.
 */
async function newCase() {
  const tenant = await gateway.newTenant();
  const entry = await gateway.rest('POST', `/locations/${tenant.locationId}/whitelist`, {
    key: tenant.key,
    body: newEntry({ referenceId: 'unit-1' }),
  });
  const params: Record<string, string> = {
    locationId: tenant.locationId,
    whitelistId: entry.body.data.id,
    residentId: 'unit-1',
  };
  const call = (
    { method, path }: Documented,
    options: {
      body?: unknown;
      key?: string | undefined;
      query?: string;
      params?: Record<string, string>;
      headers?: Record<string, string>;
    },
  ) =>
    gateway.rest(
      method,
      path.replace(/\{(\w+)\}/g, (_, name: string) => ({ ...params, ...options.params })[name]!) +
        (options.query ?? ''),
      { key: tenant.key, ...options },
    );
  return { ...tenant, call };
}

test('the OpenAPI document describes exactly the REST operations that the gateway has', () => {
  expect(operations.map(({ name }) => name).sort()).toEqual(
    routes.map(({ method, path }) => `${method} ${path}`).sort(),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { method, path, successor, list } of routes) {
    const { operation, name } = named(`${method} ${path}`);
    expect(operation.deprecated ?? false, name).toBe(Boolean(successor));
    const parameters = operation.parameters.map((parameter) => parameter.name);
    expect(parameters.includes('limit') && parameters.includes('cursor'), name).toBe(Boolean(list));
    expect(Boolean(operation.requestBody), name).toBe(method === 'POST' || method === 'PUT');
  }
});

test('the server URL in the OpenAPI document is relative, and the regular expressions in the document work without Unicode support', () => {
  const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, pattern]) => JSON.parse(pattern!) as string,
  );
  expect(patterns).not.toHaveLength(0);
  for (const pattern of patterns) {
    expect(() => new RegExp(pattern), pattern).not.toThrow();
    expect(pattern).not.toMatch(/\\[pu]|\(\?/);
  }
  expect(document.servers.map(({ url }) => url)).toEqual(['/api']);
});

test('the OpenAPI document describes the filter parameters of the REST endpoints that return lists', () => {
  const parameters = (name: string) =>
    named(name).operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
  expect(parameters('GET /locations/{locationId}/whitelist')).toEqual([
    'path locationId',
    'query referenceId',
    'query plateType',
    'query limit',
    'query cursor',
    'header If-None-Match',
  ]);
  expect(parameters('GET /locations/{locationId}/residents/{residentId}/vehicles')).toEqual([
    'path locationId',
    'path residentId',
    'query plateType',
    'query limit',
    'query cursor',
    'header If-None-Match',
  ]);
  expect(parameters('PUT /locations/{locationId}/whitelist/{whitelistId}')).toEqual([
    'path locationId',
    'path whitelistId',
    'header If-Match',
  ]);
});

describe.each(operations)('the documented operation $name', (documented) => {
  const { operation, method } = documented;

  test('a REST operation accepts its documented examples, and its responses match their documented schemas', async () => {
    const { call } = await newCase();
    const examples = examplesOf(operation);
    expect(examples).not.toHaveLength(0);
    for (const body of examples) {
      if (body) expect(faultsOf([...documented.at, 'requestBody'], body)).toBeUndefined();
      const answer = await call(documented, { body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(method === 'POST' ? 201 : 200);
      expectDocumented(documented, answer);
    }
    if (method !== 'POST') return;
    const again = await call(documented, { body: examples[0] });
    expect(again.status).toBe(409);
    expectDocumented(documented, again);
  });

  test('a REST operation refuses invalid requests with the documented errors', async () => {
    const { call, companyId, locationId } = await newCase();
    const [body] = examplesOf(operation);
    const takesIfMatch = operation.parameters.some(({ name }) => name === 'If-Match');
    const answers = [
      ...(takesIfMatch
        ? [
            await call(documented, { body, headers: { 'If-Match': '"99"' } }),
            await call(documented, { body, headers: { 'If-Match': 'new' } }),
          ]
        : []),
      await call(documented, { body, key: undefined }),
      await call(documented, {
        body,
        key: await gateway.newKey({ permissions: [], companyIds: [companyId] }),
      }),
      await call(documented, { body, params: { locationId: newId() } }),
      await call(documented, { body, query: '?limit=0' }),
      ...(body
        ? [
            await call(documented, { body: '[' }),
            await call(documented, { body: {} }),
            await call(documented, { body: { ...body, note: 'x'.repeat(1024 * 1024) } }),
            await call(documented, { body, headers: { 'Content-Type': 'text/plain' } }),
          ]
        : []),
    ];
    const tired = await gateway.newKey({ locationIds: [locationId], hourlyLimit: 1 });
    await gateway.rest('GET', '/health', { key: tired });
    answers.push(await call(documented, { body, key: tired }));
    for (const answer of answers.filter(({ status }) => status >= 400)) expectDocumented(documented, answer);
    // The test causes every documented error status except 409 (conflict), 410 (brownout) and 500 (failure of the
    // gateway).
    const unseen = ['409', '410', '500'];
    const documentedErrors = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
    expect(answers.map(({ status }) => String(status))).toEqual(
      expect.arrayContaining(documentedErrors.filter((status) => !unseen.includes(status))),
    );
  });
});

test('each page of a REST list matches its schema in the OpenAPI document', async () => {
  const { call } = await newCase();
  for (const documented of operations.filter(({ operation }) =>
    operation.parameters.some(({ name }) => name === 'limit'),
  )) {
    const answer = await call(documented, { query: '?limit=1' });
    expect(answer.body).toHaveProperty('nextCursor');
    expectDocumented(documented, answer);
  }
});

test('the response to a REST update that causes a conflict matches the OpenAPI document', async () => {
  const { call, companyId, locationId, key } = await newCase();
  const slug = newSlug();
  await gateway.newLocation(companyId, { slug });
  const entry = newEntry();
  await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry });
  for (const [name, body] of [
    ['PUT /locations/{locationId}', { slug }],
    ['PUT /locations/{locationId}/whitelist/{whitelistId}', entry],
  ] as const) {
    const answer = await call(named(name), { body });
    expect(answer.status).toBe(409);
    expectDocumented(named(name), answer);
  }
});

const register = 'POST /register/company';
const createLocation = 'POST /locations';
const updateLocation = 'PUT /locations/{locationId}';
const createEntry = 'POST /locations/{locationId}/whitelist';
const createResident = 'POST /locations/{locationId}/residents';

const refused: [string, Body][] = [
  [register, { name: '' }],
  [register, { name: '   ' }],
  [register, { name: 'Al Noor / Dubai' }],
  [register, { name: 'x'.repeat(101) }],
  [register, { slug: 'al--noor' }],
  [register, { address: undefined }],
  [register, { address: null }],
  [register, { phone: 971 }],
  [register, { email: 'gates' }],
  [register, { website: 'marina parking' }],
  [register, { description: 'a\u0000b' }],
  [register, { settings: [] }],
  [createLocation, { capacity: -1 }],
  [createLocation, { capacity: 2.5 }],
  [createLocation, { timezone: '' }],
  [updateLocation, { capacity: undefined }],
  [updateLocation, { name: null }],
  [updateLocation, { slug: '-gate' }],
  [createEntry, { referenceId: ' ' }],
  [createEntry, { plateType: 'dxb' }],
  [createEntry, { plateType: 'DUBAI' }],
  [createEntry, { plateCode: 'white1' }],
  [createEntry, { plateNumber: '12a' }],
  [createEntry, { plateNumber: '1'.repeat(21) }],
  [createEntry, { plateNumber: 12345 }],
  [createEntry, { vehicleType: 'x'.repeat(51) }],
  [createEntry, { note: 'a\u001bb' }],
  [createEntry, { referenceId: 'a\u0085' }],
  [createEntry, { validFrom: 'tomorrow' }],
  [createEntry, { validFrom: '2026-01-31T08:00:00' }],
  [createResident, { referenceId: undefined }],
  [createResident, { referenceId: null }],
  [createResident, { referenceId: undefined, residentId: ' ' }],
];

const accepted: [string, Body][] = [
  [register, { slug: 'marina', name: 'موقف & Søn, (É)', email: null, description: 'one\n\ttwo' }],
  [register, { slug: 'al-noor', email: '', website: '', logo: null, settings: { deep: { free: [1] } } }],
  [createLocation, { slug: 'gate-2', capacity: null }],
  [updateLocation, { address: null, timezone: 'Asia/Dubai' }],
  [createEntry, { plateCode: 'White', vehicleType: null, note: 'First line\nsecond line' }],
  [createEntry, { validUntil: '2026-12-31T23:59:59.5+04:00' }],
  [createResident, { referenceId: undefined, residentId: 'flat-7' }],
  [createResident, { referenceId: null, residentId: 'flat-7' }],
];

describe('request schemas in the OpenAPI document, compared with the gateway', () => {
  async function judge(name: string, changes: Body) {
    const documented = named(name);
    const { call } = await newCase();
    // `JSON.stringify` removes properties of the request body whose value is undefined.
    const body = JSON.parse(JSON.stringify({ ...examplesOf(documented.operation)[0], ...changes })) as Body;
    const answer = await call(documented, { body });
    return { faults: faultsOf([...documented.at, 'requestBody'], body), status: answer.status };
  }

  test.each(refused)(
    'the request %s with the fields %j is refused by the gateway, and does not match the OpenAPI document',
    async (name, changes) => {
      const { faults, status } = await judge(name, changes);
      expect(status).toBe(400);
      expect(faults).toBeDefined();
    },
  );

  test.each(accepted)(
    'the request %s with the fields %j is accepted by the gateway, and matches the OpenAPI document',
    async (name, changes) => {
      const { faults, status } = await judge(name, changes);
      expect(status).toBeLessThan(300);
      expect(faults).toBeUndefined();
    },
  );
});
