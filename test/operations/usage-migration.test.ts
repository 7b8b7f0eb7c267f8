import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { applyMigrations } from '../../src/database/migrations.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Statement } from '../../src/database/types.ts';
import { newId } from '../../src/ids.ts';
import { migrationsFolder } from '../../src/migrated-database.ts';
import { createScratchDatabase, migrateUpTo, testServerUrl } from '../support/scratch-database.ts';

const log = pino({ level: 'silent' });
const firstOfTheDays = '20261121222000_usage_partitions';
const hourMs = 3_600_000;

/**
 * The SQL statement that gateways of version 1.5.0 and earlier used to write usage records. The tests run this INSERT
 * statement before, during and after the migration to daily partitions.
 */
const insertAsBefore: Statement = {
  name: 'usage-insert-of-before',
  text: `INSERT INTO "UsageRecord"
    ("apiKeyId", "requestId", surface, operation, status, "errorCode", "durationMs", address, "createdAt")
    SELECT k, r, 'rest', 'GET /health', 200, NULL, 1, 'test', t
    FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS u(k, r, t)`,
};

/**
 * Opens a database whose usage tables have no daily partitions yet. Returns a function `migrate`, which applies the
 * migration that creates the daily partitions, and all later migrations.
 */
async function openAsBefore() {
  const scratch = await createScratchDatabase({ migrated: false });
  const database = await openDatabase({ ...scratch, log });
  onTestFinished(async () => {
    await database.close();
    await scratch.drop();
  });
  await migrateUpTo(database, firstOfTheDays);
  const insert = (apiKeyId: string | null, times: Date[]) =>
    database.sql.query(insertAsBefore, [
      times.map(() => apiKeyId),
      times.map(() => newId()),
      times.map((time) => time.toISOString()),
    ]);
  return { ...database, insert, migrate: () => applyMigrations(database, log, migrationsFolder) };
}

/**
 * Returns the number of requests of an API key for each hour. In the returned object, `records` contains the numbers of
 * requests according to the usage records, and `totals` contains the numbers according to the usage totals. For each
 * hour, the usage records and the usage totals must give the same number of requests.
 */
async function hoursOf({ sql }: Awaited<ReturnType<typeof openAsBefore>>, apiKeyId: string) {
  const ask = (text: string) => sql.query<{ hour: Date; requests: number }>({ name: '', text }, [apiKeyId]);
  return {
    records: await ask(`SELECT date_trunc('hour', "createdAt", 'UTC') AS hour, count(*)::int AS requests
      FROM "UsageRecord" WHERE "apiKeyId" = $1 GROUP BY 1 ORDER BY 1`),
    totals: await ask(
      `SELECT hour, sum(requests)::int AS requests FROM "UsageTotal" WHERE "apiKeyId" = $1 GROUP BY 1 ORDER BY 1`,
    ),
  };
}

const sum = (rows: { requests: number }[]) => rows.reduce((total, { requests }) => total + requests, 0);

test('the migration to daily partitions keeps the existing usage records, and adds them to the usage totals', async () => {
  const database = await openAsBefore();
  const apiKeyId = newId();
  const times = [-50 * 24, -30 * 24, -2, -1, 0, 1, 30 * 24].flatMap((hours) =>
    Array.from({ length: 40 }, (_, n) => new Date(Date.now() + hours * hourMs - n * 1000)),
  );
  await database.insert(apiKeyId, times);
  await database.insert(null, times);
  await database.migrate();
  await database.insert(apiKeyId, [
    new Date(),
    new Date(Date.now() - 60_000),
    new Date(Date.now() - 90 * 24 * hourMs),
  ]);
  const { records, totals } = await hoursOf(database, apiKeyId);
  expect(sum(records)).toBe(times.length + 3);
  expect(totals).toEqual(records);
  expect(await database.prisma.usageRecord.count({ where: { apiKeyId: null } })).toBe(times.length);
  const [ids] = await database.sql.query<{ count: number; different: number }>(
    {
      name: '',
      text: 'SELECT count(*)::int AS count, count(DISTINCT id)::int AS different FROM "UsageRecord"',
    },
    [],
  );
  expect(ids!.different).toBe(ids!.count);
});

test.runIf(testServerUrl)(
  'the previous version of the gateway can record usage while the migration to daily partitions runs',
  async () => {
    const database = await openAsBefore();
    const apiKeyId = newId();
    await database.insert(
      apiKeyId,
      Array.from({ length: 50_000 }, (_, n) => new Date(Date.now() - n * 1000)),
    );
    let migrated = false;
    let written = 50_000;
    async function record() {
      do {
        // A gateway can write a usage record some seconds after the request. The test therefore also writes a late
        // usage record, whose time is 5 s in the past, together with each new usage record. When a write fails, the
        // test repeats the write, as a gateway does.
        const times = [new Date(), new Date(Date.now() - 5_000)];
        await expect
          .poll(() => database.insert(apiKeyId, times).then(() => 'written'), { timeout: 30_000 })
          .toBe('written');
        written += times.length;
      } while (!migrated);
    }
    const recording = Promise.all([record(), record()]);
    await database.migrate().finally(() => (migrated = true));
    await recording;
    const { records, totals } = await hoursOf(database, apiKeyId);
    expect(sum(records)).toBe(written);
    expect(totals).toEqual(records);
  },
);
