import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Balancer, startHaproxy } from '../support/haproxy.ts';
import { createPostgres, createRedis } from '../support/system-servers.ts';
import { checkLedger } from './support/checker.ts';
import {
  budgetWithFallback,
  connectTo,
  expectExactLimit,
  type Fleet,
  operatorKey,
  progress,
  startFleet,
  watchFallback,
} from './support/fleet.ts';
import { startLoad } from './support/load.ts';
import { askGraph, limitedKeyBudget, newTenant } from './support/tenant.ts';

// These tests run three gateways behind HAProxy on one machine. HAProxy has the configuration from docs/scaling.md.

const timeout = 400_000;
const gateways = ['gateway-1', 'gateway-2', 'gateway-3'];
const postgres = await createPostgres();
const redis = await createRedis();
let fleet: Fleet;
let balancer: Balancer;

beforeAll(async () => {
  await Promise.all([postgres.start(), redis.start()]);
  fleet = await startFleet(gateways.length, {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    TRUST_PROXY: 'true',
  });
  balancer = await startHaproxy(fleet.urls.map((url) => Number(new URL(url).port)));
}, timeout);

afterAll(async () => {
  await balancer.remove();
  await fleet.kill();
  await Promise.all([postgres.remove(), redis.remove()]);
});

/** Returns one column of HAProxy's statistics, with one value for each gateway. */
async function statistics(column: string): Promise<string[]> {
  const [header = '', ...lines] = (await balancer.command('show stat')).trim().split('\n');
  const names = header.replace(/^# /, '').split(',');
  const rows = lines.map((line) => line.split(','));
  return gateways.map((gateway) => rows.find(([, server]) => server === gateway)![names.indexOf(column)]!);
}

describe('three gateways behind a load balancer', { timeout }, () => {
  test('the load balancer sends requests to all three gateways, and the gateways together enforce a rate limit exactly', async () => {
    await expect.poll(() => statistics('status')).toEqual(['UP', 'UP', 'UP']);
    const { limitedKey } = await newTenant(balancer.url, operatorKey, 'balancer-limits');
    await expectExactLimit(fleet, [balancer.url], limitedKey);
    for (const count of await statistics('stot')) expect(Number(count)).toBeGreaterThan(0);
  });

  test('an API key that is revoked at one gateway stops working at every gateway', async () => {
    const { limitedKey } = await newTenant(balancer.url, operatorKey, 'balancer-revoked');
    const viewer = await askGraph<{ id: string }>(balancer.url, limitedKey, '{ viewer { id } }', {});
    const statuses = () =>
      Promise.all(
        fleet.urls.map(
          async (url) => (await fetch(`${url}/api/health`, { headers: { 'X-API-Key': limitedKey } })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200, 200]);
    await askGraph(balancer.url, operatorKey, 'mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', viewer);
    // A gateway process caches an API key for 5 seconds. The test waits for only 4 seconds, so that it fails if a
    // gateway process gets no notice that the API key was revoked.
    await expect.poll(statuses, { timeout: 4000 }).toEqual([401, 401, 401]);
  });

  test('when one gateway records a parking event, the subscribers of the other gateways get the new status of the location', async () => {
    const { key, locationId } = await newTenant(balancer.url, operatorKey, 'balancer-pushed');
    const streams = [balancer.url, ...fleet.urls].map((url) =>
      createClient({ url: `${url}/graphql`, headers: { 'X-API-Key': operatorKey } }).iterate<{
        locationStatusChanged: { occupied: number };
      }>({
        query: 'subscription ($id: ID!) { locationStatusChanged(locationId: $id) { occupied } }',
        variables: { id: locationId },
      }),
    );
    const pushed = streams.map(async (stream) => {
      for await (const { data } of stream) if (data?.locationStatusChanged.occupied) return 'pushed';
      return 'ended';
    });
    // A subscriber receives no changes that happen before its event stream is open. The test therefore records one
    // parking event after the other, until every subscriber of the location status has received a changed status.
    let heard: string[] | undefined;
    void Promise.all(pushed).then((all) => (heard = all));
    let vehicles = 0;
    await expect
      .poll(async () => {
        vehicles += 1;
        const input = {
          eventId: `pushed-${vehicles}`,
          kind: 'ENTRY',
          plate: { plateType: 'DXB', plateCode: 'C', plateNumber: String(vehicles) },
          occurredAt: new Date().toISOString(),
        };
        const query = `mutation ($locationId: ID!, $input: ParkingEventInput!) {
          recordParkingEvent(locationId: $locationId, input: $input) { id } }`;
        await askGraph(balancer.url, key, query, { locationId, input });
        return heard;
      })
      .toEqual(streams.map(() => 'pushed'));
  });

  test('no request fails while three gateways restart one after the other under load', async () => {
    const tenant = await newTenant(balancer.url, operatorKey, 'balancer-restarts');
    const fellBack = watchFallback(fleet.started);
    const load = startLoad([balancer.url], tenant);
    try {
      for (const [index, gateway] of gateways.entries()) {
        await progress(load, 30);
        // In production, the systemd unit of a gateway sends two commands to the load balancer: the command `drain`
        // before the gateway stops, and the command `ready` before the gateway starts again.
        await balancer.command(`set server gateways/${gateway} state drain`);
        await expect.poll(async () => (await statistics('scur'))[index]).toBe('0');
        expect(await fleet.gateways[index]!.end('SIGTERM')).toBe(0);
        await progress(load, 30);
        await fleet.start(index);
        await balancer.command(`set server gateways/${gateway} state ready`);
        await expect.poll(async () => (await statistics('status'))[index]).toBe('UP');
      }
      await progress(load, 30);
    } finally {
      await load.stop();
    }
    const { ledger } = load;
    const database = await connectTo(postgres.url);
    expect(await checkLedger(database, tenant, ledger)).toEqual([]);
    await database.end();
    expect(ledger.unanswered).toEqual([]);
    const outcomes = [
      ...ledger.events.map(({ outcome }) => outcome),
      ...ledger.plates.flatMap(({ create, updates, remove }) => [
        create,
        ...updates.map(({ outcome }) => outcome),
        remove ?? 'acknowledged',
      ]),
    ];
    expect(new Set(outcomes)).toEqual(new Set(['acknowledged']));
    expect(ledger.servedOfLimitedKey).toBeLessThanOrEqual(
      fellBack() ? budgetWithFallback(gateways.length) : limitedKeyBudget,
    );
  });
});
