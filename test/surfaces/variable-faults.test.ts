import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { openEventStream } from '../support/event-stream.ts';
import { newEntry, newSlug, openTestGateway } from '../support/harness.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const { key, locationId, companyId } = await gateway.newTenant();

const webhook = { url: 'http://127.0.0.1:9/hook', events: ['WHITELIST_CREATED', 'PARKING_ENTERED'] };
const company = { name: 'Test', slug: 'test', address: 'Dubai' };
const event = {
  eventId: 'one',
  kind: 'ENTRY',
  occurredAt: '2026-03-01T08:00:00Z',
  plate: { plateType: 'DXB', plateCode: 'A', plateNumber: '7' },
};

const createWebhook = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret } }';
const updateWebhook = `mutation ($input: UpdateWebhookInput!) { updateWebhook(id: "${newId()}", input: $input) { id } }`;
const registerCompany = 'mutation ($input: RegisterCompanyInput!) { registerCompany(input: $input) { id } }';
const createLocation = 'mutation ($input: CreateLocationInput!) { createLocation(input: $input) { id } }';
const createEntry = `mutation ($input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: "${locationId}", input: $input) { id } }`;
const recordEvent = `mutation ($input: ParkingEventInput!) {
  recordParkingEvent(locationId: "${locationId}", input: $input) { id } }`;
const createKey = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }';
interface GraphError {
  extensions: { details: { errors: { field: string }[] } };
}

const plateAccess = `query ($at: DateTime, $reading: ReadingInput) {
  plateAccess(locationId: "${locationId}", reading: $reading, at: $at) { reason } }`;
const whitelistChanges = `query ($after: String, $first: Int) {
  whitelistChanges(locationId: "${locationId}", after: $after, first: $first) { cursor } }`;

/**
 * A test case: a GraphQL operation, and variables with at least one invalid field. If several fields are invalid, the
 * list `errors` contains all of them.
 */
interface Case {
  operation: string;
  variables: Record<string, unknown>;
  field: string;
  value: unknown;
  errors?: string[];
}

const cases: Case[] = [
  ...[createWebhook, updateWebhook].flatMap((operation): Case[] => [
    {
      operation,
      variables: { input: { ...webhook, locationIds: [{}] } },
      field: 'locationIds.0',
      value: {},
    },
    {
      operation,
      variables: { input: { ...webhook, locationIds: [newId(), true] } },
      field: 'locationIds.1',
      value: true,
    },
    { operation, variables: { input: { ...webhook, url: 7 } }, field: 'url', value: 7 },
    { operation, variables: { input: { ...webhook, url: 'a\u0000' } }, field: 'url', value: 'a\u0000' },
    {
      operation,
      variables: { input: { ...webhook, events: ['WHITELIST_CREATED', 'NONE'] } },
      field: 'events.1',
      value: 'NONE',
    },
    {
      operation,
      variables: { input: { ...webhook, events: ['whitelist.created'] } },
      field: 'events.0',
      value: 'whitelist.created',
    },
    { operation, variables: { input: { ...webhook, events: [] } }, field: 'events', value: [] },
    {
      operation,
      variables: { input: { ...webhook, url: 'a\u0000', locationIds: [{}] } },
      field: 'url',
      value: 'a\u0000',
      errors: ['url', 'locationIds.0'],
    },
  ]),
  {
    operation: createWebhook,
    variables: { input: { ...webhook, companyId: {} } },
    field: 'companyId',
    value: {},
  },
  { operation: createWebhook, variables: { input: { ...webhook, other: 1 } }, field: 'other', value: 1 },
  {
    operation: createWebhook,
    variables: { input: { ...webhook, other: null } },
    field: 'other',
    value: null,
  },
  {
    operation: createWebhook,
    variables: { input: { events: webhook.events } },
    field: 'url',
    value: null,
  },
  {
    operation: updateWebhook,
    variables: { input: { ...webhook, enabled: 'yes' } },
    field: 'enabled',
    value: 'yes',
  },
  { operation: registerCompany, variables: { input: { ...company, phone: 7 } }, field: 'phone', value: 7 },
  {
    operation: createLocation,
    variables: { input: { name: 'A', slug: 'a', capacity: 1.5 } },
    field: 'capacity',
    value: 1.5,
  },
  {
    operation: createEntry,
    variables: { input: newEntry({ validFrom: '2026-03-01T08:00:00Z', note: 7 }) },
    field: 'note',
    value: 7,
  },
  {
    operation: createEntry,
    variables: { input: newEntry({ validFrom: 'soon', plateNumber: 'A' }) },
    field: 'plateNumber',
    value: 'A',
    errors: ['plateNumber', 'validFrom'],
  },
  {
    operation: createEntry,
    variables: { input: newEntry({ hours: { days: ['MONDAY'], from: '07:00', to: 7 } }) },
    field: 'hours.0.to',
    value: 7,
  },
  {
    operation: createEntry,
    variables: {
      input: newEntry({ hours: { days: 'MONDAY', from: '07:00', to: '08:00' }, maxEntries: 'x' }),
    },
    field: 'maxEntries',
    value: 'x',
  },
  { operation: recordEvent, variables: { input: { ...event, entryId: {} } }, field: 'entryId', value: {} },
  {
    operation: recordEvent,
    variables: { input: { ...event, kind: 'PARKED' } },
    field: 'kind',
    value: 'PARKED',
  },
  {
    operation: recordEvent,
    variables: { input: { ...event, plate: { ...event.plate, plateNumber: 7 } } },
    field: 'plate.plateNumber',
    value: 7,
  },
  {
    operation: recordEvent,
    variables: { input: { ...event, eventId: ' ', occurredAt: '2026-03-01T12:00:00+04:00' } },
    field: 'eventId',
    value: ' ',
  },
  {
    operation: createKey,
    variables: { input: { name: 'A', permissions: ['READ_LOCATIONS'], companyIds: [companyId, {}] } },
    field: 'companyIds.1',
    value: {},
  },
  {
    operation: whitelistChanges,
    variables: { after: 'no cursor', first: 0 },
    field: 'after',
    value: 'no cursor',
    errors: ['after', 'first'],
  },
  { operation: plateAccess, variables: { at: 'soon', reading: { text: 'A 7' } }, field: 'at', value: 'soon' },
  {
    operation: plateAccess,
    variables: { at: '2026-03-01T08:00:00Z', reading: { text: 'A 7', confidence: 'x' } },
    field: 'reading.confidence',
    value: 'x',
  },
];

describe('names of invalid fields in errors about GraphQL variables', () => {
  test.each(cases)(
    'for the GraphQL variables $variables, the error shows the invalid field $field, and shows no valid field',
    async ({ operation, variables, field, value, errors = [field] }) => {
      const { body } = await gateway.graph(operation, { key, variables });
      const [error] = body.errors;
      expect(error.extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: { field, value } });
      expect(error.extensions.details.errors.map((fault: { field: string }) => fault.field)).toEqual(errors);
      expect(error.message).not.toContain('whitelist.updated');
    },
  );

  test.each([
    ['query ($id: ID!) { location(id: $id) { id } }', { id: null }, ['id']],
    [
      'query ($location: ID!) { whitelist(locationId: $location) { totalCount } }',
      { location: null },
      ['locationId'],
    ],
    ['query ($location: ID!) { whitelist(locationId: $location) { totalCount } }', {}, ['locationId']],
    [
      'query ($location: ID = "a") { whitelist(locationId: $location) { totalCount } }',
      { location: null },
      ['locationId'],
    ],
    [
      'mutation ($of: ID!, $values: UpdateLocationInput!) { updateLocation(id: $of, input: $values) { id } }',
      { of: null, values: null },
      ['id', 'input'],
    ],
    ['{ whitelist { totalCount } }', {}, ['locationId']],
    [
      '{ plateAccess(locationId: "a", plate: { plateType: "DXB", plateCode: "A" }) { reason } }',
      {},
      ['plateNumber'],
    ],
    [`mutation { updateLocation(id: "${locationId}", input: { level: 1 }) { id } }`, {}, ['level']],
    ['{ locations(first: 100000) { nodes { id } } }', {}, ['first']],
  ])(
    'the error about missing, unknown or too large values names all invalid fields: %s %o',
    async (operation, variables, fields) => {
      // From the third execution of a GraphQL operation on, the gateway runs a compiled form of this operation.
      for (let time = 0; time < 4; time += 1) {
        const { body } = await gateway.graph(operation, { key, variables });
        const details = body.errors.map((error: GraphError) => error.extensions.details);
        const named = details.flatMap(({ errors }: { errors: { field: string }[] }) =>
          errors.map(({ field }) => field),
        );
        expect([body.errors[0].extensions.code, named], JSON.stringify(body)).toEqual([
          'VALIDATION_ERROR',
          fields,
        ]);
      }
    },
  );

  test.each<[string, Record<string, unknown>, string, unknown]>([
    ['locationStatusChanged(locationId: $id) { state }', { id: 1.5 }, 'locationId', 1.5],
    ['locationStatusChanged(locationId: $id) { state }', {}, 'locationId', null],
    ['locationStatusesChanged(locationIds: [$id]) { state }', { id: {} }, 'id', {}],
    ['whitelistChanged(locationId: $id) { cursor }', { id: [locationId] }, 'locationId', [locationId]],
    ['webhookMessagesWaiting(webhookId: $id) { waiting }', { id: true }, 'webhookId', true],
  ])(
    'the error about the variables of a subscription names the invalid field, and has the status 200: %s %o',
    async (field, variables, name, value) => {
      const operation = `subscription ($id: ID!) { ${field} }`;
      const { status, body } = await gateway.graph(operation, { key, variables });
      expect(status).toBe(200);
      expect(body.errors).toMatchObject([
        { extensions: { code: 'VALIDATION_ERROR', details: { field: name, value } } },
      ]);
      const stream = await openEventStream(gateway.app, { key, query: operation, variables });
      expect(stream.response.status).toBe(200);
      expect(await stream.next()).toMatchObject({
        errors: [{ extensions: { code: 'VALIDATION_ERROR', details: { field: name, value } } }],
      });
      expect(await stream.next()).toBeUndefined();
    },
  );

  test('a GraphQL client may omit the brackets around a list with only one item', async () => {
    const { body } = await gateway.graph(createWebhook, {
      key,
      variables: { input: { ...webhook, events: 'WHITELIST_CREATED', locationIds: locationId } },
    });
    expect(body.errors).toBeUndefined();
    const refused = await gateway.graph(createWebhook, {
      key,
      variables: { input: { ...webhook, events: 'WHITELIST_CREATED', locationIds: locationId, url: ' ' } },
    });
    expect(refused.body.errors[0].extensions.details).toMatchObject({ field: 'url', value: ' ' });
  });

  test('when a REST client sends a number instead of an identifier, the error describes the invalid field', async () => {
    const { body } = await gateway.rest('POST', '/locations', {
      key,
      body: { companyId: 7, name: 'Gate', slug: newSlug() },
    });
    expect(body.error.details).toMatchObject({
      field: 'companyId',
      value: 7,
      errors: [{ field: 'companyId' }],
    });
  });
});
