import { expect, test } from 'vitest';
import { newEntry, sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

const past = '2020-01-01T04:00+04:00';
const future = '2099-01-01T04:00+04:00';

const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '7' };

const operations = {
  importWhitelistEntries: [
    `mutation ($id: ID!, $rows: [WhitelistEntryInput!]!) {
      importWhitelistEntries(locationId: $id, entries: $rows) { rows { error { value } } } }`,
    { rows: [{ ...newEntry(), validFrom: future, validUntil: past }] },
    past,
  ],
  recordParkingEvents: [
    `mutation ($id: ID!, $rows: [ParkingEventInput!]!) {
      recordParkingEvents(locationId: $id, events: $rows) { rows { error { value } } } }`,
    { rows: [{ eventId: 'one', kind: 'ENTRY', plate, occurredAt: future }] },
    future,
  ],
  'recordParkingEvent with a literal': [
    `mutation ($id: ID!, $plate: PlateInput!) { recordParkingEvent(locationId: $id,
      input: { eventId: "one", kind: ENTRY, plate: $plate, occurredAt: "${future}" }) { id } }`,
    { plate },
    future,
  ],
  occupancyHistory: [
    `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
      location(id: $id) { occupancyHistory(from: $from, to: $to) { at } } }`,
    { from: future, to: past },
    future,
  ],
  'ApiKey.usage': [
    'query ($from: DateTime, $to: DateTime) { viewer { usage(from: $from, to: $to) { hour } } }',
    { from: future, to: past },
    future,
  ],
  createApiKey: [
    `mutation ($id: ID!, $at: DateTime) { createApiKey(input: {
      name: "Gate", permissions: [ADMIN], locationIds: [$id], expiresAt: $at }) { secret } }`,
    { at: future },
    future,
  ],
} satisfies Record<string, [string, Record<string, unknown>, string]>;

test.each(Object.entries(operations))(
  'an error about an instant shows the instant as the client sent it: %s',
  async (_, [operation, variables, sent]) => {
    const { companyId, locationId } = await gateway.newTenant();
    const key = await gateway.newKey({
      companyIds: [companyId],
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    const { body } = await gateway.graph(operation, { key, variables: { id: locationId, ...variables } });
    expect(JSON.stringify(body)).toContain(`"value":"${sent}"`);
  },
);
