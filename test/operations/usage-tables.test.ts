import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Sql } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { createRetention } from '../../src/retention/retention.ts';
import { prepareUsagePartitions } from '../../src/usage/partitions.ts';
import { createUsageRecorder, type Usage } from '../../src/usage/recorder.ts';
import { openTestGateway } from '../support/harness.ts';
import { newUsage } from '../support/usage.ts';

const gateway = await openTestGateway();
const { prisma, sql } = gateway.database;
const log = pino({ level: 'silent' });

const dayMs = 86_400_000;
const daysFromNow = (days: number) => new Date(Date.now() + days * dayMs);

const ask = <Row>(text: string, ...values: unknown[]) => sql.query<Row>({ name: '', text }, values);

/**
 * Returns the name of the database partition that contains the usage record of an API key. The API key must have
 * exactly one usage record.
 */
async function partitionOf(apiKeyId: string | null): Promise<string | undefined> {
  const rows = await ask<{ name: string }>(
    `SELECT tableoid::regclass::text AS name FROM "UsageRecord" WHERE "apiKeyId" = $1`,
    apiKeyId,
  );
  return rows[0]?.name.replaceAll('"', '');
}

const partitionName = (day: Date) => `UsageRecord_${day.toISOString().slice(0, 10).replaceAll('-', '_')}`;

async function partitions(): Promise<string[]> {
  const rows = await ask<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = '"UsageRecord"'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** Writes one usage record to the database in the same way as a gateway process. */
async function write(usage: Usage): Promise<void> {
  const recorder = createUsageRecorder({ sql, log });
  recorder.record(usage);
  await recorder.close();
}

describe('totals of usage records', () => {
  test('the usage totals are the sums of the usage records, even when three processes send batches again after timeouts', async () => {
    const keys = [1, 2, 3].map(() => newId());
    const operations = ['GET /a', 'GET /b', 'query c'];
    // Some calls of `query` fail: either the SQL statement never reaches the database, or the database stores the batch
    // of usage records but the response is lost.
    let runs = 0;
    const unreliable = {
      async query<Row>(...[statement, values]: Parameters<Sql['query']>) {
        runs += 1;
        if (runs % 5 === 1) throw new Error('not sent');
        const rows = await sql.query<Row>(statement, values);
        if (runs % 3 === 0) throw new Error('the response was lost');
        return rows;
      },
    };
    const recorders = keys.map(() => createUsageRecorder({ sql: unreliable, log }));
    const requests = Array.from({ length: 6_000 }, (_, index) =>
      newUsage({
        apiKeyId: keys[index % 2]!,
        operation: operations[index % 3]!,
        status: index % 7 === 0 ? 429 : 200,
        errorCode: index % 7 === 0 ? 'RATE_LIMIT_EXCEEDED' : null,
      }),
    );
    for (const [index, request] of requests.entries()) recorders[index % 3]!.record(request);
    const count = () => prisma.usageRecord.count({ where: { apiKeyId: { in: keys } } });
    await expect
      .poll(
        async () => {
          await Promise.all(recorders.map((recorder) => recorder.flush()));
          return count();
        },
        { timeout: 20_000 },
      )
      .toBe(requests.length);
    // A usage recorder can send a batch of records twice, but the database must store the batch only once.
    await Promise.all(recorders.map((recorder) => recorder.close()));
    expect(await count()).toBe(requests.length);

    const totals = await ask<{ operation: string; errorCode: string; requests: number }>(
      `SELECT operation, "errorCode", sum(requests)::int AS requests FROM "UsageTotal"
       WHERE "apiKeyId" = ANY($1) GROUP BY 1, 2`,
      keys,
    );
    for (const { operation, errorCode, requests: counted } of totals) {
      const expected = requests.filter(
        (request) => request.operation === operation && (request.errorCode ?? '') === errorCode,
      );
      expect([operation, errorCode, counted]).toEqual([operation, errorCode, expected.length]);
    }
    expect(totals.reduce((sum, total) => sum + total.requests, 0)).toBe(requests.length);
  });

  test('the field `usage` returns the totals even after the usage records are deleted', async () => {
    const { key } = await gateway.newTenant();
    const { body } = await gateway.graph('{ viewer { id } }', { key });
    const apiKeyId: string = body.data.viewer.id;
    await write(newUsage({ apiKeyId, operation: 'GET /gone' }));
    await prisma.usageRecord.deleteMany({ where: { apiKeyId } });
    const answer = await gateway.graph('{ viewer { usage { operation requests } } }', { key });
    expect(answer.body.data.viewer.usage).toContainEqual({ operation: 'GET /gone', requests: 1 });
  });

  test('the gateway keeps usage totals for the configured number of days', async () => {
    const [old, recent] = [newId(), newId()];
    await write(newUsage({ apiKeyId: old, createdAt: daysFromNow(-21) }));
    await write(newUsage({ apiKeyId: recent, createdAt: daysFromNow(-19) }));
    await removeExpired();
    const kept = await prisma.usageTotal.findMany({ where: { apiKeyId: { in: [old, recent] } } });
    expect(kept).toMatchObject([{ apiKeyId: recent, requests: 1 }]);
  });
});

async function removeExpired() {
  const retention = createRetention({
    sql,
    log,
    days: { usage: 10, usageTotals: 20, events: 30, deliveries: 20, whitelistChanges: 5 },
  });
  const removed = await retention.removeExpired();
  await retention.close();
  return removed;
}

describe('daily partitions of usage records', () => {
  test('when a gateway starts, it creates the daily partitions of usage records for at least seven days, beginning with today', async () => {
    const names = Array.from({ length: 7 }, (_, ahead) => partitionName(daysFromNow(ahead)));
    expect(await partitions()).toEqual(expect.arrayContaining(names));
    const today = newUsage();
    await write(today);
    expect(await partitionOf(today.apiKeyId)).toBe(partitionName(today.createdAt));
  });

  test('when three processes try to create the same daily partition at the same time, exactly one process creates it', async () => {
    const day = partitionName(daysFromNow(3));
    await ask(`DROP TABLE "${day}"`);
    const made = await Promise.all([1, 2, 3].map(() => prepareUsagePartitions(sql)));
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await partitions()).toContain(day);
  });

  test('when the daily partition of a usage record is missing, the database stores the record in the default partition', async () => {
    const day = partitionName(daysFromNow(4));
    await ask(`DROP TABLE "${day}"`);
    const usage = newUsage({ createdAt: daysFromNow(4) });
    await write(usage);
    expect(await partitionOf(usage.apiKeyId)).toBe('UsageRecord_default');
    expect(await prepareUsagePartitions(sql)).toBe(0);
    expect(await prisma.usageTotal.count({ where: { apiKeyId: usage.apiKeyId! } })).toBe(1);
    await prisma.usageRecord.deleteMany({ where: { apiKeyId: usage.apiKeyId } });
    expect(await prepareUsagePartitions(sql)).toBe(1);
  });

  test('a daily partition of usage records is dropped only when even its newest record is too old to keep', async () => {
    const midnight = (days: number) => new Date(Math.floor(Date.now() / dayMs + days) * dayMs).toISOString();
    const ages = [-12, -11, -10];
    for (const age of ages) {
      await ask(
        `CREATE TABLE IF NOT EXISTS "${partitionName(daysFromNow(age))}" PARTITION OF "UsageRecord"
         FOR VALUES FROM ('${midnight(age)}') TO ('${midnight(age + 1)}')`,
      );
    }
    const records = [...ages, -400].map((age) => newUsage({ createdAt: daysFromNow(age) }));
    for (const record of records) await write(record);
    const removed = await removeExpired();
    expect(removed.usageDays).toBeGreaterThanOrEqual(2);
    expect(removed.usage).toBeGreaterThanOrEqual(1);
    expect(await Promise.all(records.map(({ apiKeyId }) => partitionOf(apiKeyId)))).toEqual([
      undefined,
      undefined,
      partitionName(daysFromNow(-10)),
      undefined,
    ]);
  });
});
