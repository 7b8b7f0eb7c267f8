import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { createRetention } from '../../src/retention/retention.ts';
import { newEntry, openTestGateway } from '../support/harness.ts';
import { testServerUrl } from '../support/scratch-database.ts';
import { hasPgBouncer, startPgBouncer } from '../support/system-servers.ts';
import { webhookTools } from '../support/webhooks.ts';

/**
 * The number of connections from PgBouncer to PostgreSQL. The gateway opens more connections to PgBouncer, so several
 * connections of the gateway must share one connection to PostgreSQL.
 */
const serverConnections = 3;

describe.runIf(testServerUrl && hasPgBouncer)(
  'the gateway works behind PgBouncer in transaction mode',
  async () => {
    if (testServerUrl === undefined || !hasPgBouncer) return; // Vitest calls describe callbacks of skipped tests, too
    const pooler = await startPgBouncer(testServerUrl, serverConnections);
    afterAll(() => pooler.remove());
    const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' }, { poolerUrl: pooler.url });
    const { newSubscriber, addEntry, received, run, prisma } = webhookTools(gateway);

    const record = (kind: 'ENTRY' | 'EXIT', plate: Record<string, string>, occurredAt = new Date()) => ({
      operation: `mutation ($locationId: ID!, $input: ParkingEventInput!) {
      recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
      input: { eventId: newId(), kind, plate, occurredAt: occurredAt.toISOString() },
    });

    test('the gateway connects to its database through PgBouncer', async () => {
      const [state] = await prisma.$queryRaw<{ connections: bigint }[]>`
      SELECT count(*) AS connections FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'parking-gateway'`;
      await Promise.all(Array.from({ length: 20 }, () => gateway.database.state()));
      expect(gateway.config.databaseUrl).toContain(new URL(pooler.url).host);
      expect(Number(state!.connections)).toBeLessThanOrEqual(serverConnections);
    });

    test('behind PgBouncer, concurrent REST and GraphQL requests can create, list, update and delete whitelist entries and get gate decisions', async () => {
      await Promise.all(
        Array.from({ length: 12 }, async () => {
          const { key, locationId } = await gateway.newTenant();
          const path = `/locations/${locationId}/whitelist`;
          const created = await gateway.rest('POST', path, { key, body: newEntry() });
          expect(created.status).toBe(201);
          const { id, plateType, plateCode, plateNumber } = created.body.data;
          expect((await gateway.rest('POST', path, { key, body: newEntry({ plateNumber }) })).status).toBe(
            409,
          );
          const listed = await gateway.rest('GET', path, { key });
          expect(listed.body.data.map((entry: { id: string }) => entry.id)).toEqual([id]);
          const plate = { plateType, plateCode, plateNumber };
          const decide = `query ($locationId: ID!, $plate: PlateInput!) {
          plateAccess(locationId: $locationId, plate: $plate) { allowed } }`;
          expect(await run(key, decide, { locationId, plate })).toMatchObject({ allowed: true });
          const changed = await gateway.rest('PUT', `${path}/${id}`, {
            key,
            body: newEntry({ note: 'new' }),
          });
          expect(changed.body.data.note).toBe('new');
          expect((await gateway.rest('DELETE', `${path}/${id}`, { key })).status).toBeLessThan(300);
        }),
      );
    });

    test('behind PgBouncer, a whitelist import in the mode REPLACE replaces the whole whitelist', async () => {
      const { key, locationId } = await gateway.newTenant();
      await addEntry(key, locationId);
      const entries = Array.from({ length: 500 }, () => newEntry());
      const result = await run(
        key,
        `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
        importWhitelistEntries(locationId: $locationId, entries: $entries, mode: REPLACE) { created deleted } }`,
        { locationId, entries },
      );
      expect(result).toEqual({ created: 500, deleted: 1 });
      expect(await prisma.whitelistEntry.count({ where: { locationId } })).toBe(500);
    });

    test('behind PgBouncer, parking events create parking sessions, and the gateway removes expired parking events', async () => {
      const { key, locationId } = await gateway.newTenant();
      const plate = { plateType: 'DXB', plateCode: 'A', plateNumber: '12' };
      const fortyDaysAgo = new Date(Date.now() - 40 * 86_400_000);
      for (const { operation, input } of [
        record('ENTRY', plate, fortyDaysAgo),
        record('EXIT', plate, new Date(fortyDaysAgo.getTime() + 3_600_000)),
        record('ENTRY', plate),
      ]) {
        await run(key, operation, { locationId, input });
      }
      const retention = createRetention({
        sql: gateway.database.heavy.sql,
        log: pino({ level: 'silent' }),
        days: { usage: 30, usageTotals: 30, events: 30, deliveries: 30, whitelistChanges: 30 },
      });
      await retention.removeExpired();
      await retention.close();
      const events = await prisma.parkingEvent.findMany({ where: { locationId } });
      expect(events.map(({ kind }) => kind)).toEqual(['ENTRY']);
    });

    test('behind PgBouncer, the gateway sends each webhook message once', async () => {
      const { key, locationId, receiver } = await newSubscriber(['WHITELIST_CREATED']);
      const entries = await Promise.all(Array.from({ length: 10 }, () => addEntry(key, locationId)));
      const messages = await received(receiver, entries.length);
      expect(messages.map(({ data }) => data.changes.id).sort()).toEqual(entries.map(({ id }) => id).sort());
    });

    test('behind PgBouncer, an API key gets exactly as many requests as its rate limit allows', async () => {
      const { companyId } = await gateway.newTenant();
      const key = await gateway.newKey({ companyIds: [companyId], burstLimit: 5 });
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => gateway.rest('GET', '/locations', { key })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(3);
    });
  },
);
