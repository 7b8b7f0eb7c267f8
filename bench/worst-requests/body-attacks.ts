import { maxJsonValues, valuesOfContainer } from '../../src/http/bodies/json.ts';
import { bulkLocations, locationId } from '../world.ts';
import { ask, type Attack, type AttackRequest, entryFields, post, times } from './requests.ts';
import type { WorstWorld } from './seed.ts';

// This file builds requests whose bodies are expensive to read, to check or to execute.

/**
 * The size of the large JSON value in a request body, in bytes. The large JSON value is slightly smaller than the size
 * limit of a request body, because the body also contains the GraphQL query.
 */
const largestBody = 16 * 1024 * 1024 - 1000;
/**
 * The number of JSON values in a request body with many values. `mostValues` is lower than the gateway's limit, because
 * the body also contains other values.
 */
const mostValues = maxJsonValues - 1_000;
/** How many JSON values the gateway counts for an empty array or object in a list. */
const valuesOfEmpty = valuesOfContainer + 1;
const deepestNesting = 34;

const target = locationId(bulkLocations.import);

/** A GraphQL query with the variable `$plate`. In a request body, the variable `$plate` can have any JSON value. */
const question = `query ($plate: PlateInput!) { plateAccess(locationId: "${target}", plate: $plate) { allowed } }`;

/** Returns a request body with the GraphQL query `question` and a JSON value for the variable `$plate`. */
const withValue = (json: string) => `{"query":${JSON.stringify(question)},"variables":{"plate":${json}}}`;

const bodyOf =
  (json: () => string) =>
  (world: WorstWorld): AttackRequest[] => [post(world, withValue(json()))];

function notUtf8(world: WorstWorld): AttackRequest[] {
  const [before, after] = withValue('"-"').split('-') as [string, string];
  return [
    post(world, Buffer.concat([Buffer.from(before), Buffer.alloc(largestBody, 0xff), Buffer.from(after)])),
  ];
}

const importRows = 10_000;
const importMutation = `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!, $mode: ImportMode, $dryRun: Boolean) {
  importWhitelistEntries(locationId: $locationId, entries: $entries, mode: $mode, dryRun: $dryRun) {
    total created rows { index error { code message field value } }
  }
}`;

/**
 * Returns a row of an import, with the longest values that the validation rules allow. Each row has a different plate.
 */
const largestRow = (round: number, row: number) => ({
  referenceId: `${round}-${row}`.padEnd(100, 'r'),
  plateType: 'RAK',
  plateCode: String(round),
  plateNumber: String(row).padStart(20, '0'),
  vehicleType: 'v'.repeat(50),
  note: 'n'.repeat(500),
  validFrom: '2026-01-01T00:00:00Z',
  validUntil: '2027-01-01T00:00:00Z',
});

/** Two weekly time spans, such as those of a resident who parks on workdays and on weekends. */
const hours = [
  { days: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'], from: '07:00', to: '19:00' },
  { days: ['SATURDAY', 'SUNDAY'], from: '09:00', to: '17:00' },
];

const importOf =
  (options: { mode: string; dryRun?: boolean }, row: (round: number, row: number) => unknown = largestRow) =>
  (world: WorstWorld): AttackRequest[] =>
    times(3, (round) =>
      ask(world, importMutation, {
        locationId: target,
        entries: times(importRows, (index) => row(round, index)),
        ...options,
      }),
    );

/** Returns the plate of the seeded whitelist entry with a given index. */
const seededPlate = (index: number) => ({
  plateType: 'DXB',
  plateCode: 'A',
  plateNumber: String(index + 1),
});

const eventsPerCall = 1_000;
const eventsMutation = `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) {
  recordParkingEvents(locationId: $locationId, events: $events) { total recorded rows { index error { message } } }
}`;

/** Returns batches of parking events of 100 vehicles. `firstPlate` is the plate number of the first vehicle. */
const eventsOf =
  (firstPlate: number) =>
  (world: WorstWorld): AttackRequest[] =>
    times(20, (round) =>
      ask(world, eventsMutation, {
        locationId: target,
        events: times(eventsPerCall, (index) => ({
          eventId: `${round}-${index}`.padEnd(100, 'e'),
          kind: index % 2 ? 'EXIT' : 'ENTRY',
          occurredAt: new Date(Date.UTC(2026, 0, 1 + round, 0, 0, index)).toISOString(),
          plate: { plateType: 'DXB', plateCode: 'A', plateNumber: String(firstPlate + (index % 100)) },
        })),
      }),
    );

const requests: [string, Attack['build']][] = [
  ['16 MiB of empty objects', bodyOf(() => `[${'{},'.repeat(largestBody / 3)}{}]`)],
  ['16 MiB of brackets', bodyOf(() => '['.repeat(largestBody))],
  ['maximum number of empty objects', bodyOf(() => `[${'{},'.repeat(mostValues / valuesOfEmpty)}{}]`)],
  ['maximum number of texts', bodyOf(() => `[${'"a1",'.repeat(mostValues)}""]`)],
  [
    'maximum number of nested values',
    bodyOf(() => {
      const nested = '['.repeat(deepestNesting) + ']'.repeat(deepestNesting);
      return `[${times(Math.floor(mostValues / (valuesOfContainer * deepestNesting + 1)), () => nested).join(',')}]`;
    }),
  ],
  [
    'maximum number of fields',
    bodyOf(() => `{${times(mostValues / valuesOfEmpty, (index) => `"f${index}":[]`).join(',')}}`),
  ],
  ['16 MiB in the name of a field', bodyOf(() => `{"${'x'.repeat(largestBody)}":1}`)],
  [
    'long names of fields',
    bodyOf(() => `{${times(500, (index) => `"${index}${'x'.repeat(32_000)}":1`).join(',')}}`),
  ],
  ['16 MiB in one string', bodyOf(() => `"${'x'.repeat(largestBody)}"`)],
  ['16 MiB of escaped quotes', bodyOf(() => `"${'\\"'.repeat(largestBody / 2)}"`)],
  ['16 MiB of invalid UTF-8', notUtf8],
  ['GraphQL document of 16 MiB', (world) => [ask(world, `{${'a '.repeat(largestBody / 2)}}`)]],
  [
    'import of 10,000 invalid rows',
    importOf({ mode: 'CREATE' }, () => ({ referenceId: 1, plateType: {}, note: [] })),
  ],
  ['import of 10,000 new rows', importOf({ mode: 'CREATE' })],
  [
    'import that changes 10,000 rows',
    importOf({ mode: 'UPSERT' }, (round, row) => ({
      ...largestRow(0, row),
      note: `${round}`.padEnd(500, 'n'),
    })),
  ],
  [
    'import of 10,000 existing rows',
    (world) =>
      times(2, () =>
        ask(world, importMutation.replace('index error', `index entry { ${entryFields} } error`), {
          locationId: target,
          entries: times(importRows, (index) => ({ ...largestRow(0, index), ...seededPlate(index) })),
          mode: 'CREATE',
        }),
      ),
  ],
  ['import that replaces 10,000 rows', importOf({ mode: 'REPLACE' })],
  [
    'import that replaces 10,000 rows with hours',
    importOf({ mode: 'REPLACE' }, (round, row) => ({ ...largestRow(round, row), hours, maxEntries: 9 })),
  ],
  ['import of 10,000 rows as a dry run', importOf({ mode: 'REPLACE', dryRun: true })],
  // The first 5,000 whitelist entries have a quota, and their vehicles are inside.
  ['batches of 1,000 parking events', eventsOf(5_001)],
  ['batches of 1,000 parking events with a used quota', eventsOf(1)],
];

export const bodyAttacks: readonly Attack[] = requests.map(([name, build]) => ({
  name,
  build,
  reads: 'everything',
}));
