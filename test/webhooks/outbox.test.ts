import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import type { Database } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { claimDue } from '../../src/webhooks/outbox.ts';
import { newSlug } from '../support/harness.ts';
import { createScratchDatabase, type ScratchDatabase } from '../support/scratch-database.ts';

// The tests in this file run no webhook worker. When a test claims deliveries (marks them as being sent), no worker
// sends these deliveries, so they stay claimed during the test.

let scratch: ScratchDatabase;
let database: Database;
beforeEach(async () => {
  scratch = await createScratchDatabase();
  database = await openDatabase({ ...scratch, log: pino({ level: 'silent' }) });
});
afterEach(async () => {
  await database.close();
  await scratch.drop();
});

/**
 * Creates companies with webhooks. Each webhook gets the given number of deliveries. All these deliveries are due, so a
 * worker can send them immediately.
 */
async function fillOutbox(of: {
  companies: number;
  webhooks: number;
  deliveries: number;
  failing?: boolean;
}) {
  const { prisma } = database;
  const eventId = newId();
  await prisma.auditRecord.create({
    data: { id: eventId, requestId: 'test', action: 'whitelist.created', targetId: newId() },
  });
  for (let company = 0; company < of.companies; company += 1) {
    const companyId = newId();
    await prisma.company.create({ data: { id: companyId, name: 'Test', slug: newSlug(), address: 'Dubai' } });
    const webhooks = Array.from({ length: of.webhooks }, () => ({
      id: newId(),
      companyId,
      url: 'https://receiver.example/',
      events: [],
      secret: '',
      failingSince: of.failing ? new Date(0) : null,
    }));
    await prisma.webhook.createMany({ data: webhooks });
    await prisma.webhookDelivery.createMany({
      data: webhooks.flatMap(({ id: webhookId }) =>
        Array.from({ length: of.deliveries }, (_, index) => ({
          id: newId(),
          webhookId,
          eventId,
          type: 'whitelist.created',
          nextAttemptAt: new Date(index),
          retryUntil: new Date('2999-01-01T00:00:00Z'),
        })),
      ),
    });
  }
}

/**
 * Groups claimed deliveries by the value of a field, and returns how many deliveries the largest group has. A delivery
 * is claimed when it is marked as being sent.
 */
function mostOfOne(claimed: Awaited<ReturnType<typeof claimDue>>, field: 'owner' | 'webhookId'): number {
  const counts = new Map<string, number>();
  for (const delivery of claimed) counts.set(delivery[field], (counts.get(delivery[field]) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

describe('limits for concurrent webhook deliveries', () => {
  test('a gateway process sends at most 200 webhook messages at the same time: at most 20 per company, and 5 per webhook', async () => {
    await fillOutbox({ companies: 12, webhooks: 5, deliveries: 7 });
    const claimed = await claimDue(database.sql, []);
    expect(claimed).toHaveLength(200);
    expect(mostOfOne(claimed, 'owner')).toBeLessThanOrEqual(20);
    expect(mostOfOne(claimed, 'webhookId')).toBeLessThanOrEqual(5);
    expect(new Set(claimed.map(({ owner }) => owner)).size).toBe(12);
    expect(await claimDue(database.sql, claimed)).toEqual([]);
    // When 7 of the 200 deliveries in progress have ended, the gateway can start 7 waiting deliveries.
    expect(await claimDue(database.sql, claimed.slice(0, 193))).toHaveLength(7);
  });

  test('the gateway sends at most 20 webhook messages of one company at the same time, even when no other company has waiting messages', async () => {
    await fillOutbox({ companies: 1, webhooks: 4, deliveries: 7 });
    const claimed = await claimDue(database.sql, []);
    expect([claimed.length, mostOfOne(claimed, 'webhookId')]).toEqual([20, 5]);
    await fillOutbox({ companies: 1, webhooks: 1, deliveries: 7 });
    expect(await claimDue(database.sql, claimed)).toHaveLength(5);
  });

  test('at most half of the concurrent deliveries of a gateway process go to webhooks whose last delivery failed', async () => {
    await fillOutbox({ companies: 12, webhooks: 5, deliveries: 7, failing: true });
    const claimed = await claimDue(database.sql, []);
    expect(claimed).toHaveLength(100);
    expect(mostOfOne(claimed, 'owner')).toBeLessThanOrEqual(10);
    await fillOutbox({ companies: 12, webhooks: 5, deliveries: 7 });
    const others = await claimDue(database.sql, claimed);
    expect(others).toHaveLength(100);
    expect(others.every(({ failing }) => !failing)).toBe(true);
  });
});
