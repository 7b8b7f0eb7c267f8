import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { actionsAt, openActivity } from '../support/activity.ts';
import { newSlug, sharedTestGateway } from '../support/harness.ts';
import { surfaceNames, surfaces } from '../support/surfaces.ts';

const gateway = await sharedTestGateway();

/**
 * Returns the audit actions `location.full` and `location.available` of a location, in the order in which the gateway
 * recorded them.
 */
const announced = async (locationId: string) =>
  (await actionsAt(gateway, locationId)).filter((action) => /^location\.(full|available)$/.test(action));

describe.each(surfaceNames)('capacity changes over %s', (name) => {
  test.each([
    { capacities: [5, 0, null, 5], states: ['location.full', 'location.available'] },
    {
      capacities: [5, 0, null, 5, null, 0],
      states: ['location.full', 'location.available', 'location.full'],
    },
    { capacities: [5, 0, null, 5, null, 4], states: ['location.full', 'location.available'] },
    { capacities: [5, 0, null, 0], states: ['location.full'] },
    { capacities: [5, 0, 0, 5, 5], states: ['location.full', 'location.available'] },
    { capacities: [null, 0, null, 0], states: ['location.full'] },
    { capacities: [null, 5, null, 5], states: [] },
  ])(
    'when a client sets the capacity of a location to $capacities, one value after the other, the gateway announces the states $states',
    async ({ capacities, states }) => {
      const { key, locationId } = await gateway.newTenant();
      for (const capacity of capacities) {
        const { status, code } = await surfaces[name](
          gateway,
          {
            name: 'change the capacity',
            rest: { method: 'PUT', path: `/locations/${locationId}`, body: { capacity } },
            graph: {
              query:
                'mutation ($id: ID!, $input: UpdateLocationInput!) { updateLocation(id: $id, input: $input) { id } }',
              variables: { id: locationId, input: { capacity } },
            },
          },
          key,
        );
        expect({ status, code }).toEqual({ status: 200, code: undefined });
      }
      expect(await announced(locationId)).toEqual(states);
    },
  );
});

describe('a location without a capacity', () => {
  test('when a vehicle leaves a location without a capacity, the gateway announces no new state of the location (such as full or available)', async () => {
    const { key, companyId } = await gateway.newTenant();
    const locationId = await gateway.newLocation(companyId, { capacity: 1, slug: newSlug() });
    const { see, change } = openActivity(gateway, key);
    const at = '2026-03-01T08:00:00Z';
    await see(locationId, { eventId: newId(), kind: 'ENTRY', plate: 'DXB/A/7', at });
    await change(locationId, { capacity: null });
    await see(locationId, { eventId: newId(), kind: 'EXIT', plate: 'DXB/A/7', at });
    expect(await announced(locationId)).toEqual(['location.full']);
    await change(locationId, { capacity: 1 });
    expect(await announced(locationId)).toEqual(['location.full', 'location.available']);
  });
});
