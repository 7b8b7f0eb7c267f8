import { expect, test } from 'vitest';
import { openActivity } from '../support/activity.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

test('a vehicle counts as inside at once when a gate with a fast clock sends an entry event with a future time', async () => {
  const { key, locationId } = await gateway.newTenant();
  const { see, status } = openActivity(gateway, key);
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
  await see(locationId, { kind: 'ENTRY', plate: 'DXB/A/7', at: inHours(20) });
  expect(await status(locationId)).toMatchObject({ occupied: 1 });
  await see(locationId, { kind: 'EXIT', plate: 'DXB/A/7', at: inHours(21) });
  expect(await status(locationId)).toMatchObject({ occupied: 0 });
});

test('after adjustOccupancy has set the number of vehicles inside to 0, exits of vehicles that entered earlier do not reduce the number', async () => {
  const { key, locationId } = await gateway.newTenant();
  const { see, adjust, status } = openActivity(gateway, key);
  const at = (minutes: number) => new Date(Date.parse('2026-03-01T08:00:00Z') + minutes * 60_000);
  for (const plate of ['DXB/A/1', 'DXB/A/2', 'DXB/A/3'])
    await see(locationId, { kind: 'ENTRY', plate, at: at(0) });
  expect(await adjust(locationId, 0, at(1))).toEqual({ occupied: 0, adjustment: -3 });
  await see(locationId, { kind: 'ENTRY', plate: 'DXB/A/4', at: at(2) });
  for (const plate of ['DXB/A/1', 'DXB/A/2']) await see(locationId, { kind: 'EXIT', plate, at: at(3) });
  expect(await status(locationId)).toMatchObject({ occupied: 1 });
});
