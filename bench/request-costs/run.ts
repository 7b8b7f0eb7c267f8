import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import type { Sql } from '../../src/database/types.ts';
import { buildWithGateway } from '../build.ts';
import { median } from '../pairs.ts';
import { processorTime, type Server, startServer } from '../processes.ts';
import { record, type RecordedCost, recordedFiles } from '../recorded.ts';
import { createTarget, describeRun } from '../target.ts';
import { recordBatch, type Shape, type ShapeRequest, shapes } from './shapes.ts';
import { barOf, costTable, perPoint } from './table.ts';
import { events, seedCosts } from './world.ts';

// `npm run bench:cost` measures how much processor time the gateway and PostgreSQL need for a request. The benchmark
// divides the processor time of a request by the cost of the request in rate limit points.

const { values: options } = parseArgs({
  options: {
    embedded: { type: 'boolean', default: false },
    /**
     * The value of the option `--only`: a list of words, separated by commas. The benchmark measures only the kinds of
     * requests whose names contain one of the words in `--only`.
     */
    only: { type: 'string' },
    runs: { type: 'string', default: '12' },
    record: { type: 'boolean', default: false },
  },
});
/**
 * The number of warm-up requests of each kind. During the warm-up requests, Node compiles the gateway's code, and the
 * database fills its caches.
 */
const warmUpRuns = 3;
const eventsOfBatch = 1_000;

await buildWithGateway(fileURLToPath(new URL('../../', import.meta.url)), {});
const target = await createTarget(options);
const database = await target.open();
try {
  console.log('Seeding …');
  const secret = await seedCosts(database, target.pepper);
  const measured = await describeRun(target, database);
  if (options.embedded) await database.close();
  const server = await startServer({ script: 'server', env: target.env });
  try {
    for (let first = 0; first < events; first += eventsOfBatch) {
      await send(server, secret, recordBatch(first, eventsOfBatch));
    }
    if (!options.embedded) await database.sql.query({ name: '', text: 'VACUUM ANALYZE' }, []);
    const wanted = options.only?.split(',');
    const chosen = shapes.filter(({ name }) => !wanted || wanted.some((part) => name.includes(part)));
    const costs: Record<string, RecordedCost> = {};
    const sql = options.embedded ? undefined : database.sql;
    for (const shape of chosen) {
      try {
        costs[shape.name] = await costOf(server, secret, shape, sql);
      } catch (error) {
        console.error(`NOT MEASURED ${shape.name}: ${(error as Error).message}`);
        process.exitCode = 1;
      }
    }
    console.log(`\n${measured.machine}, ${measured.database}\n\n${costTable(costs)}`);
    const bar = barOf(costs);
    if (Object.values(costs).some((cost) => perPoint(cost) > bar)) process.exitCode = 1;
    if (options.record) {
      const known = shapes.map(({ name }) => name);
      await record(recordedFiles.costs, { kind: target.kind, measured, known }, costs);
    }
  } finally {
    await server.stop();
  }
} finally {
  if (!options.embedded) await database.close();
  await target.drop();
}

/** Sends a request and returns its cost in rate limit points. */
async function send(server: Server, secret: string, { method, path, body }: ShapeRequest): Promise<number> {
  const response = await fetch(server.origin + path, {
    method,
    headers: { 'X-API-Key': secret, 'Content-Type': 'application/json', 'X-Query-Cost': 'true' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as {
    errors?: unknown;
    extensions?: { cost: { points: number } };
  };
  if (!response.ok || answer.errors) {
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer).slice(0, 500)}`);
  }
  return answer.extensions?.cost.points ?? 1;
}

/**
 * Returns how much processor time PostgreSQL has used so far for the gateway's connections, in milliseconds. For the
 * embedded database, the function returns 0, because this database runs in the gateway process.
 */
async function postgresTime(sql: Sql | undefined): Promise<number> {
  if (!sql) return 0;
  const connections = await sql.query<{ pid: number }>(
    {
      name: '',
      text: 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    },
    [],
  );
  const times = await Promise.all(connections.map(({ pid }) => processorTime(pid)));
  return times.reduce<number>((total, time) => total + (time ?? 0), 0);
}

/** Sends several requests of one kind, and returns the medians of their rate limit points and processor times. */
async function costOf(
  server: Server,
  secret: string,
  { request, priceOfContract }: Shape,
  sql: Sql | undefined,
): Promise<RecordedCost> {
  const costs: { points: number; gateway: number; postgres: number }[] = [];
  for (let run = 0; run < warmUpRuns + Number(options.runs); run += 1) {
    const gatewayBefore = (await processorTime(server.pid)) ?? 0;
    const postgresBefore = await postgresTime(sql);
    const points = await send(server, secret, request(run));
    const postgres = (await postgresTime(sql)) - postgresBefore;
    const gateway = ((await processorTime(server.pid)) ?? 0) - gatewayBefore;
    if (run >= warmUpRuns) costs.push({ points, gateway, postgres });
  }
  return {
    points: median(costs.map(({ points }) => points)),
    priceOfContract,
    gatewayMs: Number(median(costs.map(({ gateway }) => gateway)).toFixed(1)),
    ...(sql && { postgresMs: Number(median(costs.map(({ postgres }) => postgres)).toFixed(1)) }),
  };
}
