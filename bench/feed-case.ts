import type { Database } from '../src/database/types.ts';
import type { LoadResult } from './load.ts';
import { type Bench, expectStatuses, freshNumbers } from './measure.ts';
import { inRandomOrder, median, ratioOfPairs } from './pairs.ts';
import { processorTime, type Server } from './processes.ts';
import type { CaseResult, GoalFigure } from './report.ts';

// What writers pay for the feed of a whitelist: the same writes with and without the triggers that keep it.

const triggers = ['whitelist_change_by_insert', 'whitelist_change_by_update', 'whitelist_change_by_delete'];

/**
 * The writes of an entry, what each is answered with, and its pairs in place of one of a compared case: the cost is a few
 * hundredths. Removals take the entries of the location of 100,000, each once, which is enough for fewer pairs.
 */
const writes = [
  { traffic: 'rest-create', title: 'creates', status: 201, pairsOfOne: 3 },
  { traffic: 'rest-update', title: 'updates', status: 200, pairsOfOne: 3 },
  { traffic: 'rest-remove', title: 'removals', status: 200, pairsOfOne: 1 },
] as const;

/** The most that writers may pay: the processor time of a write with the feed, to that without. */
const mostCost = 1.05;

/** How long each round runs before it is measured: a change of triggers has every connection plan its statements anew. */
const warmUpSeconds = 1;

const sides = ['with', 'without'] as const;
type Side = (typeof sides)[number];

async function setFeed({ sql }: Database, side: Side): Promise<void> {
  const action = side === 'with' ? 'ENABLE' : 'DISABLE';
  const changes = triggers.map((trigger) => `${action} TRIGGER ${trigger}`).join(', ');
  await sql.query({ name: '', text: `ALTER TABLE "WhitelistEntry" ${changes}` }, []);
}

/** The processor time of the gateway and of its connections to PostgreSQL so far, in milliseconds. */
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
  /** Of the gateway and of PostgreSQL, for each write. */
  processorMicroseconds: number;
}

/** Compares writes in pairs of short rounds, one with and one without the feed, in a random order. */
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
    const goals: GoalFigure[] = [];
    const notes: string[] = [];
    for (const kind of writes) {
      const rounds: Record<Side, Round[]> = { with: [], without: [] };
      for (let pair = -1; pair < bench.pairs * kind.pairsOfOne; pair++) {
        for (const side of inRandomOrder(sides)) {
          const round = await measure(kind, side);
          if (pair >= 0) rounds[side].push(round);
        }
      }
      const figures = (figure: keyof Round) =>
        sides.map((side) => rounds[side].map((round) => round[figure])) as [number[], number[]];
      goals.push({
        text: `processor time of ${kind.title}, to that without the feed`,
        ...ratioOfPairs(...figures('processorMicroseconds')),
        most: mostCost,
      });
      const [times, rates] = [figures('processorMicroseconds'), figures('perSecond')];
      const shown = sides.map(
        (side, index) =>
          `${side} ${median(times[index]!).toFixed(0)} µs, ${median(rates[index]!).toFixed(0)}/s`,
      );
      notes.push(
        `${kind.title}: ${shown.join('; ')}; rate with to without ${ratioOfPairs(...rates).value.toFixed(2)}`,
      );
    }
    return { name: 'feed', title: 'What the feed of a whitelist costs its writers', sides: [], goals, notes };
  } finally {
    load.stop();
    await server.stop();
  }
}
