import { getIntrospectionQuery } from 'graphql';
import { bulkLocations, companyId, locationId } from '../world.ts';
import { aliases, ask, type Attack, entryFields, get, times } from './requests.ts';
import type { WorstWorld } from './seed.ts';

// This file builds expensive requests with small bodies. Although the bodies are small, these requests cause much work
// in the gateway, or large responses.

const hundredThousand = locationId(bulkLocations.hundredThousand);
const longTexts = locationId(bulkLocations.import);
const day = 24 * 3_600_000;

const instant = (daysAgo: number, minutes: number) =>
  new Date(Math.floor(Date.now() / day) * day - daysAgo * day + minutes * 60_000).toISOString();

const usageFields = 'hour surface operation requests refused errors';

/**
 * Returns a GraphQL query that selects the usage of an API key under many aliases. Each alias selects 30 days of usage.
 * For each alias, the period of 30 days begins at a different minute.
 */
const usage = ({ busyKeyId }: WorstWorld) =>
  `{ ${aliases(28, (index) => `apiKey(id: "${busyKeyId}") { usage(from: "${instant(30, index)}", to: "${instant(0, index)}") { ${usageFields} } }`)} }`;

/**
 * Returns a GraphQL query that selects the usage of an API key. The response to this query has nearly the maximum
 * number of rows.
 */
const largestUsage = ({ busyKeyId }: WorstWorld) =>
  `{ apiKey(id: "${busyKeyId}") { usage(from: "${instant(15, 0)}", to: "${instant(0, 0)}") { ${usageFields} } } }`;

/**
 * Returns requests whose GraphQL documents have nearly the maximum number of aliases. The GraphQL documents of these
 * requests are all different, so the gateway finds none of them in its cache.
 */
const freshDocuments = (world: WorstWorld) =>
  times(100, (round) =>
    ask(
      world,
      `{ ${aliases(29, (index) => `location(id: "${round} ${index}") { ${'id name slug '.repeat(3)} }`)} }`,
    ),
  );

const feedPage = (fields: string) =>
  `whitelistChanges(locationId: "${longTexts}", first: 5000) { upserts { ${fields} } }`;
const subscription = (world: WorstWorld) => ({
  ...ask(world, `subscription { locationStatusChanged(locationId: "${longTexts}") { occupied } }`),
});

const reading: [string, Attack['build']][] = [
  [
    '190 counts of locations',
    (world) => [
      ask(world, `{ ${aliases(2, () => 'companies(first: 95) { nodes { locations { totalCount } } }')} }`),
    ],
  ],
  [
    'counts of 100,000 entries',
    (world) => [
      ask(
        world,
        `{ ${aliases(28, (index) => `whitelist(locationId: "${hundredThousand}", validAt: "${instant(0, index)}") { totalCount }`)} }`,
      ),
    ],
  ],
  ['usage of 30 months', (world) => [ask(world, usage(world))]],
  ['usage with the maximum number of rows', (world) => [ask(world, largestUsage(world))]],
  [
    'changes of imports in the audit log',
    (world) => [ask(world, '{ auditLog(first: 100) { nodes { changes } } }')],
  ],
  [
    'introspection',
    (world) => [ask(world, getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true }))],
  ],
  ['GraphQL documents that are not in the cache', freshDocuments],
  ['feed pages of 5,000 entries', (world) => [ask(world, `{ ${feedPage(entryFields)} }`)]],
  ['feed pages under 5 aliases', (world) => [ask(world, `{ ${aliases(5, () => feedPage(entryFields))} }`)]],
  ['feed pages with nested lists', (world) => [ask(world, `{ ${feedPage('location { name }')} }`)]],
  [
    'whitelist pages under 7 aliases',
    (world) => [
      ask(
        world,
        `{ ${aliases(7, () => `whitelist(locationId: "${longTexts}", first: 100) { nodes { ${entryFields} } }`)} }`,
      ),
    ],
  ],
  [
    '30 gate decisions with a tolerance',
    (world) => [
      ask(
        world,
        `{ ${aliases(30, (index) => `plateAccess(locationId: "${longTexts}", tolerance: 1, plate: { plateType: "SOBZ", plateCode: "0O1", plateNumber: "801580158015801${String(index).padStart(5, '0')}" }) { reason candidates { entry { id } differences { field } } }`)} }`,
      ),
    ],
  ],
  [
    'occupancy of 750 days',
    (world) => [
      ask(
        world,
        `{ ${aliases(3, (index) => `location(id: "${longTexts}") { occupancyHistory(from: "${instant(740, index)}", to: "${instant(0, index)}", interval: DAY) { at occupied entries exits } }`)} }`,
      ),
    ],
  ],
  [
    'counts of parking sessions and events',
    (world) => [
      ask(
        world,
        `{ ${aliases(14, (index) => `parkingSessions(locationId: "${longTexts}", first: ${index + 1}, open: ${index % 2 === 0}) { totalCount } b${index}: parkingEvents(locationId: "${longTexts}", first: ${index + 1}) { totalCount }`)} }`,
      ),
    ],
  ],
  [
    '30 gate decisions with a used quota',
    (world) => [
      ask(
        world,
        `{ ${aliases(30, (index) => `plateAccess(locationId: "${longTexts}", plate: { plateType: "DXB", plateCode: "A", plateNumber: "${index + 1}" }) { reason }`)} }`,
      ),
    ],
  ],
  [
    'use of 100 quotas',
    (world) => [ask(world, `{ quotas(locationId: "${longTexts}", first: 100) { nodes { used } } }`)],
  ],
  ['REST: status of all locations', (world) => [get(world, '/api/locations/status')]],
  ['REST: whole list of 100,000', (world) => [get(world, `/api/locations/${hundredThousand}/whitelist`)]],
  ['REST: whole list of long texts', (world) => [get(world, `/api/locations/${longTexts}/whitelist`)]],
  ['REST: companies with old settings', (world) => [get(world, '/api/companies')]],
  [
    'GraphQL: companies with old settings',
    (world) =>
      times(60, (number) => ask(world, `{ company(id: "${companyId(1000 + number)}") { settings } }`)),
  ],
];

const leaving: [string, Attack['build']][] = [
  ['unread feed pages', (world) => [ask(world, `{ ${feedPage(entryFields)} }`)]],
  [
    'unread feed pages, compressed',
    (world) =>
      [ask(world, `{ ${feedPage(entryFields)} }`)].map((request) => ({
        ...request,
        headers: { ...request.headers, 'Accept-Encoding': 'br' },
      })),
  ],
  ['unread companies with old settings', (world) => [get(world, '/api/companies')]],
  [
    'subscriptions',
    (world) =>
      [subscription(world)].map((request) => ({
        ...request,
        headers: { ...request.headers, Accept: 'text/event-stream' },
      })),
  ],
];

export const documentAttacks: readonly Attack[] = [
  ...reading.map(([name, build]): Attack => ({ name, build, reads: 'everything' })),
  ...leaving.map(([name, build]): Attack => ({ name, build, reads: 'nothing' })),
];
