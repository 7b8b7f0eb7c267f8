import { bulkLocations, locationId } from '../world.ts';
import { ask, type Attack, times } from './requests.ts';

// This file builds expensive requests that change many parking sessions of a location.

const busy = locationId(bulkLocations.import);

/**
 * Changes the maximum stay of a location with many parking sessions. The two values alternate, so that each request
 * changes the end of every parking session.
 */
const stayChanges: Attack['build'] = (world) =>
  times(2, (index) =>
    ask(
      world,
      `mutation { updateLocation(id: "${busy}", input: { longestStayHours: ${1 + index} }) { id } }`,
    ),
  );

/** Counts no vehicle inside the location, so that the first request ends every open parking session. */
const emptyCounts: Attack['build'] = (world) => [
  ask(world, `mutation { setInside(locationId: "${busy}", plates: []) { occupied } }`),
];

/**
 * Counts 10,000 vehicles inside the location. Two counts alternate and have no vehicle in common, so that each request
 * ends 10,000 parking sessions and begins 10,000 others.
 */
const fullCounts: Attack['build'] = (world) =>
  times(2, (count) =>
    ask(
      world,
      `mutation ($plates: [PlateInput!]!) { setInside(locationId: "${busy}", plates: $plates) { occupied } }`,
      {
        plates: times(10_000, (index) => ({
          plateType: 'DXB',
          plateCode: 'C',
          plateNumber: String(count * 10_000 + index),
        })),
      },
    ),
  );

/** Sets 1,000 quotas. The two values alternate, so that each request changes every quota. */
const quotaChanges: Attack['build'] = (world) =>
  times(2, (inside) =>
    ask(
      world,
      `mutation ($quotas: [QuotaInput!]!) { setQuotas(locationId: "${busy}", quotas: $quotas) { referenceId } }`,
      { quotas: times(1_000, (index) => ({ referenceId: `unit-${index}`, inside: inside + 1 })) },
    ),
  );

export const changeAttacks: readonly Attack[] = [
  { name: 'changes of the maximum stay', build: stayChanges, reads: 'everything' },
  { name: 'occupancy counts of 10,000 vehicles', build: fullCounts, reads: 'everything' },
  { name: 'occupancy count that ends all sessions', build: emptyCounts, reads: 'everything' },
  { name: 'changes of 1,000 quotas', build: quotaChanges, reads: 'everything' },
];
