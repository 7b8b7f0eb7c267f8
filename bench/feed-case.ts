import type { Database } from '../src/database/types.ts';
import type { LoadResult } from './load.ts';
import { type Bench, expectStatuses, freshNumbers } from './measure.ts';
import { type Figure, inRandomOrder, measureUntilDecided, median, ratioOfPairs } from './pairs.ts';
import { processorTime, type Server } from './processes.ts';
import type { CaseResult } from './report.ts';
import { refill } from './seed.ts';

// This file measures how much the whitelist feed slows down changes of a whitelist. A benchmark case makes the same
// whitelist changes with and without the database triggers of the whitelist feed, and compares the processor times.

const triggers = ['whitelist_change_by_insert', 'whitelist_change_by_update', 'whitelist_change_by_delete'];

/** The kinds of whitelist changes that the benchmark measures, with the HTTP status of a successful response. */
const writes = [
  { traffic: 'rest-create', title: 'creates', status: 201 },
  { traffic: 'rest-update', title: 'updates', status: 200 },
  { traffic: 'rest-remove', title: 'removals', status: 200 },
] as const;

/**
 * When the benchmark has removed more than `mostRemovals` whitelist entries, the benchmark restores the seeded
 * whitelist, which has 100,000 entries.
 */
const mostRemovals = 50_000;

/**
 * The maximum ratio that meets the goal of this benchmark case. This ratio is the processor time of a write with the
 * whitelist feed, divided by the processor time of a write without the whitelist feed.
 */
const mostCost = 1.05;

/**
 * The duration of the warm-up before each measurement, in seconds. Before the warm-up, the benchmark switches the
 * triggers of the whitelist table on or off. When the benchmark switches the triggers on or off, PostgreSQL discards
 * its query plans for the whitelist table. PostgreSQL creates new query plans during the warm-up.
 */
const warmUpSeconds = 1;

const sides = ['with', 'without'] as const;
type Side = (typeof sides)[number];

async function setFeed({ sql }: Database, side: Side): Promise<void> {
  const action = side === 'with' ? 'ENABLE' : 'DISABLE';
  const changes = triggers.map((trigger) => `${action} TRIGGER ${trigger}`).join(', ');
  await sql.query({ name: '', text: `ALTER TABLE "WhitelistEntry" ${changes}` }, []);
}

/** Returns the processor time that the gateway and its PostgreSQL connections have used so far, in milliseconds. */
async function timeOfWriters({ sql }: Database, server: Server): Promise<number> {
  const connections = await sql.query<{ pid: number }>(
    {
      name: '',
      text: `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    },
    [],
  );
  const times = await Promise.all([server, ...connections].map(({ pid }) => processorTime(pid)));
  return times.reduce<number>((sum, time) => sum + (time ?? Number.NaN), 0);
}

interface Round {
  perSecond: number;
  /** The processor time that the gateway and PostgreSQL together need for one write, in microseconds. */
  processorMicroseconds: number;
}

/**
 * Compares the processor time of whitelist changes with and without the whitelist feed. Each pair of measurements
 * consists of one short measurement with the whitelist feed and one without the whitelist feed, in random order.
 */
export async function feedCost(bench: Bench): Promise<CaseResult> {
  const { database } = bench;
  const server = await bench.start('gateway');
  const load = bench.startLoad();
  let nextRemoval = 0;

  async function write({ traffic, status }: (typeof writes)[number], seconds: number): Promise<LoadResult> {
    const isRemoval = traffic === 'rest-remove';
    const result = await load.run({
      traffic,
      side: 'gateway',
      origin: server.origin,
      world: bench.world,
      seconds,
      connections: bench.connections,
      from: isRemoval ? nextRemoval : freshNumbers(),
    });
    expectStatuses([status])(result);
    if (isRemoval) nextRemoval = result.next;
    return result;
  }

  async function measure(kind: (typeof writes)[number], side: Side): Promise<Round> {
    if (nextRemoval > mostRemovals) {
      await refill(database);
      nextRemoval = 0;
    }
    await setFeed(database, side);
    await write(kind, warmUpSeconds);
    const before = await timeOfWriters(database, server);
    const result = await write(kind, bench.pairSeconds);
    const after = await timeOfWriters(database, server);
    return {
      perSecond: result.answers / result.seconds,
      processorMicroseconds: ((after - before) * 1000) / result.answers,
    };
  }

  try {
    const figures: Figure[] = [];
    const notes: string[] = [];
    for (const kind of writes) {
      const rounds: Record<Side, Round[]> = { with: [], without: [] };
      const valuesOf = (figure: keyof Round) =>
        sides.map((side) => rounds[side].map((round) => round[figure])) as [number[], number[]];
      const cost = (): Figure => ({
        text: `processor time of ${kind.title}, with feed ÷ without feed`,
        ...ratioOfPairs(...valuesOf('processorMicroseconds')),
        most: mostCost,
      });
      for (const side of sides) await measure(kind, side);
      await measureUntilDecided(
        bench.pairs,
        async () => {
          for (const side of inRandomOrder(sides)) rounds[side].push(await measure(kind, side));
        },
        () => [cost()],
      );
      figures.push(cost());
      const [times, rates] = [valuesOf('processorMicroseconds'), valuesOf('perSecond')];
      const shown = sides.map(
        (side, index) =>
          `${side} ${median(times[index]!).toFixed(0)} µs, ${median(rates[index]!).toFixed(0)}/s`,
      );
      notes.push(
        `${kind.title}: ${shown.join('; ')}; rate with to without ${ratioOfPairs(...rates).value.toFixed(2)}`,
      );
    }
    return {
      name: 'feed',
      title: 'Writes with the whitelist feed',
      sides: [],
      figures,
      notes,
    };
  } finally {
    await setFeed(database, 'with');
    load.stop();
    await server.stop();
  }
}
