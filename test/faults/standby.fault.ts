import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Proxy, startProxy } from '../support/proxy.ts';
import {
  createPostgres,
  createRedis,
  eventually,
  type Standby,
  startStandby,
} from '../support/system-servers.ts';
import { checkLedger } from './support/checker.ts';
import { connectTo, type Fleet, operatorKey, progress, startFleet } from './support/fleet.ts';
import { startLoad } from './support/load.ts';
import { askGraph, newTenant } from './support/tenant.ts';

// This test runs a PostgreSQL primary with a synchronous standby, with the configuration from docs/scaling.md.

const timeout = 400_000;
const standbyName = 'standby';
const primary = await createPostgres();
const redis = await createRedis();
let standby: Standby;
let proxy: Proxy;
let fleet: Fleet;

beforeAll(async () => {
  await Promise.all([primary.start(), redis.start()]);
  standby = await startStandby(primary, standbyName);
  const admin = await connectTo(primary.url);
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${standbyName}'`);
  await admin.query('SELECT pg_reload_conf()');
  await eventually(
    'the standby is synchronous',
    async () => {
      const { rows } = await admin.query(`SELECT FROM pg_stat_replication WHERE sync_state = 'sync'`);
      if (rows.length === 0) throw new Error('The primary has no synchronous standby');
    },
    timeout,
  );
  await admin.end();
  proxy = await startProxy(primary.url);
  fleet = await startFleet(2, {
    DATABASE_URL: proxy.url,
    DATABASE_READ_URL: standby.url,
    REDIS_URL: redis.url,
  });
}, timeout);

afterAll(async () => {
  await fleet.kill();
  proxy.close();
  await Promise.all([standby.remove(), primary.remove(), redis.remove()]);
});

describe('a PostgreSQL primary with a synchronous standby', { timeout }, () => {
  test('in a query for API key usage or the audit log, the gateway reads the data from the standby database', async () => {
    const auditLog = () =>
      askGraph<{ edges: { node: { action: string } }[] }>(
        fleet.urls[0]!,
        operatorKey,
        '{ auditLog(first: 1) { edges { node { action } } } }',
        {},
      );
    await newTenant(fleet.urls[0]!, operatorKey, 'standby-reads');
    await expect.poll(async () => (await auditLog()).edges[0]?.node.action).toBe('webhook.created');
    const admin = await connectTo(standby.url);
    const { rows } = await admin.query<{ query: string }>(
      `SELECT query FROM pg_stat_activity WHERE application_name = 'parking-gateway'`,
    );
    expect(rows.map(({ query }) => query).join()).toContain('AuditRecord');
    await admin.end();
  });

  test('when the PostgreSQL primary fails under load, the standby has every change that the gateway acknowledged, and clients must copy the whitelist again', async () => {
    const tenant = await newTenant(fleet.urls[0]!, operatorKey, 'standby-promoted');
    const changes = (after?: string) =>
      askGraph<{ cursor: string; reset: boolean }>(
        fleet.urls[0]!,
        tenant.key,
        `query ($locationId: ID!, $after: String) {
          whitelistChanges(locationId: $locationId, after: $after) { cursor reset }
        }`,
        { locationId: tenant.locationId, after },
      );
    const { cursor } = await changes();
    expect(await changes(cursor)).toMatchObject({ reset: false });
    const load = startLoad(fleet.urls, tenant);
    try {
      await progress(load);
      await primary.kill();
      await standby.promote();
      proxy.turnTo(standby.url);
      await expect.poll(() => fleet.readiness('database')).toEqual(['ok', 'ok']);
      // After the promotion of a standby, PostgreSQL reports the timeline of the old primary until the next checkpoint.
      // The gateway must detect the new PostgreSQL timeline even before the next checkpoint.
      expect(await changes(cursor)).toMatchObject({ reset: true });
      await progress(load);
    } finally {
      await load.stop();
    }
    const checker = await connectTo(standby.url);
    expect(await checkLedger(checker, tenant, load.ledger)).toEqual([]);
    await checker.end();
  });
});
