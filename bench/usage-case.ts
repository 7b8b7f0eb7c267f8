import { dropExpiredUsage } from '../src/usage/partitions.ts';
import { createUsageReads } from '../src/usage/reads.ts';
import { createUsageRecorder } from '../src/usage/recorder.ts';
import type { Sql } from '../src/database/types.ts';
import { newId } from '../src/ids.ts';
import { pino } from 'pino';
import { type Bench, expectStatuses, freshNumbers } from './measure.ts';
import { median, ratioOfPairs } from './pairs.ts';
import type { CaseResult } from './report.ts';

// This file measures how much space the usage records of one hour need in the database, and how these records affect
// gate decisions.

/**
 * The number of gate decisions per second that the benchmark requests. The benchmark also writes as many usage records
 * as `requestsPerSecond` requests per second produce in one hour.
 */
const requestsPerSecond = 1_000;
const recordsOfAnHour = requestsPerSecond * 3_600;
const keysInUse = 1_000;
const operations = ['query plateAccess', 'GET /locations/{locationId}/whitelist', 'GET /locations/status'];
const recordsPerStatement = 500;
/**
 * The benchmark measures gate decisions six times without the usage records of one hour, and six times with them. Six
 * measurements with these usage records and six without them are enough to compute a confidence interval. After the
 * benchmark has written these usage records, it can no longer measure gate decisions without them.
 */
const gateRounds = 6;

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
const noonYesterday = () => new Date(Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + 43_200_000);

/**
 * Writes the usage records of one hour. The function runs two SQL statements at the same time, as two gateway processes
 * would do. Returns the duration of each SQL statement in milliseconds.
 */
async function writeHour(
  connections: readonly Sql[],
  apiKeyIds: readonly string[],
  from: Date,
): Promise<number[]> {
  const times: number[] = [];
  let written = 0;
  await Promise.all(
    connections.map(async (sql) => {
      const recorder = createUsageRecorder({ sql, log: pino({ level: 'warn' }) });
      while (written < recordsOfAnHour) {
        const first = written;
        written += recordsPerStatement;
        for (let n = first; n < first + recordsPerStatement; n++) {
          recorder.record({
            apiKeyId: apiKeyIds[(n * 7919) % keysInUse]!,
            requestId: newId(),
            surface: 'graphql',
            operation: operations[n % operations.length]!,
            status: 200,
            errorCode: n % 50 === 0 ? 'NOT_FOUND' : null,
            durationMs: 1.25,
            address: '203.0.113.7',
            createdAt: new Date(from.getTime() + Math.floor((n * 1000) / requestsPerSecond)),
          });
        }
        const startedAt = performance.now();
        await recorder.flush();
        times.push(performance.now() - startedAt);
      }
      await recorder.close();
    }),
  );
  return times;
}

/**
 * Measures how much space the usage records of one hour need in the database. `usageHour` also measures the 99th
 * percentile (p99) of the gate decision times in three situations: without the usage records, with the usage records,
 * and while PostgreSQL removes the usage records.
 */
export async function usageHour(bench: Bench): Promise<CaseResult> {
  const { database, world } = bench;
  const ask = async <Row>(text: string, ...values: unknown[]) =>
    (await database.sql.query<Row>({ name: '', text }, values))[0]!;
  const from = noonYesterday();
  const day = from.toISOString().slice(0, 10);
  const partition = `"UsageRecord_${day.replaceAll('-', '_')}"`;
  const server = await bench.start('gateway');
  const load = bench.startLoad();
  const gates = async () => {
    const result = await load.run({
      traffic: 'gate',
      side: 'gateway',
      origin: server.origin,
      world,
      seconds: bench.longRoundSeconds,
      connections: bench.connections,
      from: freshNumbers(),
      rate: requestsPerSecond,
    });
    expectStatuses([200])(result);
    return result.p99;
  };
  const rounds = async () => {
    const p99s: number[] = [];
    await gates();
    while (p99s.length < gateRounds) p99s.push(await gates());
    return p99s;
  };
  try {
    const before = await rounds();
    await ask(`CREATE TABLE IF NOT EXISTS ${partition} PARTITION OF "UsageRecord"
      FOR VALUES FROM ('${day}') TO ('${new Date(Date.parse(day) + 86_400_000).toISOString()}')`);
    const { ids } = await ask<{ ids: string[] }>('SELECT array_agg(id) AS ids FROM "ApiKey"');
    const apiKeyIds = Array.from({ length: keysInUse }, (_, n) => ids[n] ?? newId());
    const startedAt = performance.now();
    const times = await writeHour([database.sql, database.heavy.sql], apiKeyIds, from);
    const seconds = (performance.now() - startedAt) / 1000;
    const after = await rounds();
    const size = await ask<{ rows: number; indexes: number; totals: number }>(
      `SELECT pg_table_size($1::regclass)::float8 AS rows, pg_indexes_size($1::regclass)::float8 AS indexes,
        pg_total_relation_size('"UsageTotal"')::float8 AS totals`,
      partition,
    );
    const reads = createUsageReads({ sql: database.sql, deprecated: [] });
    const question = { apiKeyId: apiKeyIds[0]!, from: new Date(Date.parse(day)), to: new Date() };
    const reader = {};
    await reads.byHour(question, reader);
    const askedAt = performance.now();
    await reads.byHour(question, reader);
    const answeredMs = performance.now() - askedAt;
    const meanwhile = gates();
    const droppedAt = performance.now();
    await dropExpiredUsage(database.sql, 0);
    const droppedMs = performance.now() - droppedAt;
    const whileDropped = await meanwhile;
    return {
      name: 'usage-hour',
      title: `An hour of ${requestsPerSecond} requests a second in the tables of usage`,
      sides: [],
      figures: [
        { text: 'gate p99, after ÷ before the usage records', ...ratioOfPairs(after, before), most: 1.3 },
      ],
      notes: [
        `gates at ${requestsPerSecond}/s: p99 before ${median(before).toFixed(2)} ms, after ${median(after).toFixed(2)} ms, ` +
          `while the day was dropped ${whileDropped.toFixed(2)} ms`,
        `${recordsOfAnHour} records: ${mebibytes(size.rows)} MiB, index ${mebibytes(size.indexes)} MiB; ` +
          `totals of ${keysInUse} keys ${mebibytes(size.totals)} MiB`,
        `written in ${seconds.toFixed(0)} s, ${median(times).toFixed(1)} ms for each ${recordsPerStatement}; ` +
          `usage of a key read in ${answeredMs.toFixed(1)} ms; the day dropped in ${droppedMs.toFixed(0)} ms`,
      ],
    };
  } finally {
    load.stop();
    await server.stop();
  }
}
