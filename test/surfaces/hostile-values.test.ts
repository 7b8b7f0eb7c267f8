import {
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../schema/index.ts';
import { partsOf } from '../../src/database/parts.ts';
import { newId } from '../../src/ids.ts';
import { hostileValues } from '../support/hostile-values.ts';
import { type Answer, newEntry, newSlug, openTestGateway } from '../support/harness.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });

/**
 * The maximum number of hostile values in one GraphQL request, for queries and for mutations. A request calls the same
 * GraphQL field once for each hostile value. The gateway refuses a mutation with more than 10 root fields.
 */
const fieldsPerRequest = { query: 20, mutation: 10 };
/**
 * The number of requests with hostile values that the test sends at the same time. One SQL statement of the gateway may
 * read the data for several concurrent requests.
 */
const requestsAtOnce = 8;

const mark = '@@hostile@@';

const attacker = await gateway.newTenant();
const neighbour = await gateway.newTenant();

async function run<Value>(key: string, operation: string, variables: object = {}): Promise<Value> {
  const { body } = await gateway.graph(operation, { key, variables: { ...variables } });
  expect(body.errors).toBeUndefined();
  return Object.values(body.data)[0] as Value;
}

const addEntry = async ({ key, locationId }: typeof attacker) =>
  (await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: newEntry() })).body.data;

const webhookInput = { url: 'http://127.0.0.1:9/', events: ['COMPANY_UPDATED'] };
const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '1' };
const reading = { text: 'A 1' };
const entry = await addEntry(attacker);
const { webhook } = await run<{ webhook: { id: string } }>(
  attacker.key,
  'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
  { input: webhookInput },
);
const { apiKey } = await run<{ apiKey: { id: string } }>(
  attacker.key,
  `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id } } }`,
  { input: { name: 'spare', permissions: ['READ_STATUS'], companyIds: [attacker.companyId] } },
);

/**
 * Functions that create a valid value for each input type. Each test sends one hostile value to a GraphQL field, in
 * place of one valid value. All other values are valid, so only the hostile value can cause an error.
 */
const samples: Record<string, () => Record<string, unknown>> = {
  WhitelistEntryInput: () => newEntry(),
  PlateInput: () => plate,
  ReadingInput: () => reading,
  ParkingEventInput: () => ({ eventId: newId(), kind: 'ENTRY', occurredAt: new Date(), reading }),
  QuotaInput: () => ({ referenceId: 'unit', inside: 1 }),
  WeeklyHoursInput: () => ({ days: ['MONDAY'], from: '07:00', to: '19:00' }),
  RegisterCompanyInput: () => ({ name: 'Company', slug: newSlug(), address: 'Dubai' }),
  UpdateCompanyInput: () => ({ description: 'changed' }),
  CreateLocationInput: () => ({ companyId: attacker.companyId, name: 'Location', slug: newSlug() }),
  UpdateLocationInput: () => ({ description: 'changed' }),
  CreateApiKeyInput: () => ({ name: 'Key', permissions: ['READ_STATUS'] }),
  UpdateApiKeyInput: () => ({ name: 'Key' }),
  CreateWebhookInput: () => ({ ...webhookInput, companyId: attacker.companyId }),
  UpdateWebhookInput: () => ({ enabled: true }),
};

/**
 * Returns a valid value for a required argument of a GraphQL field. The value of an argument `id` is the id of an
 * existing object, such as a webhook. This object has the type that the GraphQL field expects.
 */
function sampleOf(field: string, { name, type }: GraphQLArgument): unknown {
  const named = getNamedType(type);
  const sample = samples[named.name]?.();
  if (sample) return isListType(getNullableType(type)) ? [sample] : sample;
  if (name === 'locationId') return attacker.locationId;
  if (name === 'deliveryId') return newId();
  if (named.name === 'DateTime') return `2026-01-0${name === 'to' ? 2 : 1}T00:00:00Z`;
  if (name === 'occupied') return 1;
  if (name === 'referenceId') return 'unit';
  if (/apiKey/i.test(field)) return apiKey.id;
  if (/webhook/i.test(field)) return webhook.id;
  if (/location/i.test(field)) return attacker.locationId;
  if (/company/i.test(field)) return attacker.companyId;
  return entry.id;
}

/**
 * Some object types of the GraphQL schema have fields with arguments. For each of these types, `parents` contains a
 * query that selects one object of the type. These objects belong to the attacker: the company that sends the hostile
 * values.
 */
const parents: Record<string, string> = {
  Location: `location(id: "${attacker.locationId}")`,
  Company: `company(id: "${attacker.companyId}")`,
  ApiKey: `apiKey(id: "${apiKey.id}")`,
  Webhook: `webhook(id: "${webhook.id}")`,
};

/**
 * A place in the arguments of a GraphQL field where a client sends a scalar value. `values` is the JSON text of the
 * arguments, with a placeholder in place of the scalar value. The test replaces the placeholder with a hostile value.
 */
interface Leaf {
  kind: 'query' | 'mutation';
  parent: string | undefined;
  field: string;
  selection: string;
  declared: Record<string, string>;
  values: string;
  takes: (value: string) => boolean;
}

/**
 * For each scalar value in a GraphQL argument, the function yields a changed copy of the argument, and the type of the
 * scalar value. In the changed copy, a placeholder replaces the scalar value.
 */
function* marked(given: GraphQLInputType, sample: unknown): Generator<[unknown, GraphQLInputType]> {
  const type = getNullableType(given);
  if (isScalarType(type)) yield [mark, type];
  else if (isListType(type)) {
    const [first] = Array.isArray(sample) ? sample : [undefined];
    for (const [value, scalar] of marked(type.ofType, first)) yield [[value], scalar];
  } else if (isInputObjectType(type)) {
    const whole = (sample ?? samples[type.name]?.()) as Record<string, unknown>;
    for (const field of Object.values(type.getFields())) {
      for (const [value, scalar] of marked(field.type, whole[field.name])) {
        // A parking event may have either `plate` (a plate in parts) or `reading` (the text that a camera read), but
        // not both.
        const { reading: _, ...others } = whole;
        yield [{ ...(field.name === 'plate' ? others : whole), [field.name]: value }, scalar];
      }
    }
  }
}

/**
 * True if the GraphQL scalar type can parse a JSON value. If GraphQL cannot parse a value, the whole request fails. A
 * validation rule checks a value only after GraphQL has parsed it. If the rule rejects the value, only the GraphQL
 * field with this value fails.
 */
function takes(type: GraphQLInputType, value: string): boolean {
  try {
    return isScalarType(type) && type.parseValue(JSON.parse(value)) !== undefined;
  } catch {
    return false;
  }
}

function leavesOf(typeName: string): Leaf[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new TypeError(`The graph has no object ${typeName}`);
  return Object.values(type.getFields()).flatMap((field) => {
    const { args } = field;
    const output = getNamedType(field.type);
    const isConnection = output.name.endsWith('Connection');
    const isPlain = isScalarType(output) || isEnumType(output);
    return args.flatMap((argument) => {
      const given = args.filter(({ name, type }) => name === argument.name || String(type).endsWith('!'));
      const others = given.map((other) => [other.name, sampleOf(field.name, other)] as const);
      const sample = String(argument.type).includes('Input') ? sampleOf(field.name, argument) : undefined;
      return [...marked(argument.type, sample)].map(([value, scalar]): Leaf => ({
        kind: typeName === 'Mutation' ? 'mutation' : 'query',
        parent: parents[typeName],
        field: field.name,
        selection: isPlain ? '' : isConnection ? '{ totalCount nodes { __typename } }' : '{ __typename }',
        declared: Object.fromEntries(given.map(({ name, type }) => [name, String(type)])),
        values: JSON.stringify({ ...Object.fromEntries(others), [argument.name]: value }),
        takes: (text) => takes(scalar, text),
      }));
    });
  });
}

/**
 * Returns one GraphQL request that sends several hostile values, each as the value of the same argument. The request
 * contains the GraphQL field several times: once for each hostile value, under different aliases.
 */
function requestOf({ kind, parent, field, selection, declared, values }: Leaf, hostile: readonly string[]) {
  const names = Object.keys(declared);
  const definitions = hostile.flatMap((_, n) => names.map((name) => `$${name}${n}: ${declared[name]}`));
  const fields = hostile.map(
    (_, n) => `f${n}: ${field}(${names.map((name) => `${name}: $${name}${n}`).join(', ')}) ${selection}`,
  );
  const variables = hostile.flatMap((text, n) =>
    Object.entries(JSON.parse(values) as Record<string, unknown>).map(
      ([name, value]) => `"${name}${n}":${JSON.stringify(value).replace(`"${mark}"`, () => text)}`,
    ),
  );
  const selected = parent ? `${parent} { ${fields.join(' ')} }` : fields.join(' ');
  const query = `${kind} (${definitions.join(', ')}) { ${selected} }`;
  return { field, body: `{"query":${JSON.stringify(query)},"variables":{${variables.join()}}}` };
}

/**
 * Returns the requests in which the test sends hostile values in place of one scalar value of an argument. Each of
 * these requests sends one or more hostile values. The hostile values whose JSON type is wrong are in a separate
 * request, because one such value makes the whole request fail.
 */
function requestsOf(leaf: Leaf) {
  // `updateLocation` can change the maximum stay of a location. One GraphQL request cannot change the maximum stay
  // twice, because its cost would exceed the maximum cost of a GraphQL request.
  const most = leaf.field === 'updateLocation' ? 1 : fieldsPerRequest[leaf.kind];
  const taken = partsOf(hostileValues.filter(leaf.takes), most);
  const others = hostileValues.filter((value) => !leaf.takes(value)).slice(0, most);
  return [
    ...taken.map((values) => ({ ...requestOf(leaf, values), runs: true })),
    ...(others.length > 0 ? [{ ...requestOf(leaf, others), runs: false }] : []),
  ];
}

const requests = ['Query', 'Mutation', ...Object.keys(parents)].flatMap(leavesOf).flatMap(requestsOf);

/**
 * A query that another company sends at the same time as the requests with hostile values. With one SQL statement, the
 * gateway can read the data for several requests. The gateway can do this for several kinds of reads, and
 * `neighbourQuery` contains one read of each of these kinds.
 */
const neighbourQuery = `query ($id: ID!, $after: String) {
  parts: plateAccess(locationId: $id, plate: { plateType: "DXB", plateCode: "A", plateNumber: "1" }) { allowed }
  similar: plateAccess(locationId: $id, tolerance: 1, plate: { plateType: "DXB", plateCode: "A", plateNumber: "1" }) { allowed }
  read: plateAccess(locationId: $id, reading: { text: "A 1" }) { allowed }
  quotas(locationId: $id, referenceId: "unit") { totalCount nodes { used } }
  whitelist(locationId: $id, referenceId: "unit") { totalCount nodes { id entriesRecorded } }
  whitelistChanges(locationId: $id, after: $after) { upserts { id } reset }
  location(id: $id) { events { totalCount } sessions(open: true) { totalCount } status { occupied } company { id } }
}`;

async function send(body: string): Promise<Answer> {
  const response = await gateway.app.request('/graphql', {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', 'X-API-Key': attacker.key },
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

test('a hostile value in any argument causes no unexpected error, and no error in the concurrent requests of another company', async () => {
  const { key, locationId: id } = neighbour;
  await addEntry(neighbour);
  await run(
    key,
    'mutation ($id: ID!) { setQuota(locationId: $id, referenceId: "unit", inside: 2) { used } }',
    { id },
  );
  const after = await run<string>(key, 'query ($id: ID!) { whitelistCursor(locationId: $id) }', { id });
  const failures: unknown[] = [];
  for (const part of partsOf(requests, requestsAtOnce)) {
    const neighbours = gateway.graph(neighbourQuery, { key, variables: { id, after } });
    const answers = await Promise.all(part.map(({ body }) => send(body)));
    for (const [index, { status, body }] of answers.entries()) {
      const { field, runs, body: request } = part[index]!;
      const codes: string[] = (body.errors ?? []).map(
        (error: { extensions: { code: string } }) => error.extensions.code,
      );
      const isUnexpected = status >= 500 || codes.includes('INTERNAL_ERROR');
      if (isUnexpected || runs !== 'data' in body) {
        failures.push({ field, status, request: request.slice(0, 1500), errors: body.errors?.slice(0, 2) });
      }
    }
    const { status, body } = await neighbours;
    if (status !== 200 || body.errors)
      failures.push({ neighbour: body.errors, beside: part.map(({ field }) => field) });
  }
  expect(failures).toEqual([]);
});
