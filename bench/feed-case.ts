import type { Database } from '../src/database/types.ts';
import { type Bench, expectStatuses, freshNumbers } from './measure.ts';
import { median } from './pairs.ts';
import { type LoadProcess, processorTime, type Server } from './processes.ts';
import type { CaseResult, GoalFigure } from './report.ts';

// What writers pay for the feed of a whitelist: the same writes with and without what keeps it.

const withoutFeed = [
  'DROP INDEX whitelist_entry_changed_in',
  'ALTER TABLE "WhitelistEntry" DISABLE TRIGGER USER',
  `ALTER TABLE "WhitelistEntry" ALTER COLUMN "changedIn" SET DEFAULT '0'`,
];
const withFeed = [
  'CREATE INDEX whitelist_entry_changed_in ON "WhitelistEntry"("locationId", "changedIn", "id")',
  'ALTER TABLE "WhitelistEntry" ENABLE TRIGGER USER',
  'ALTER TABLE "WhitelistEntry" ALTER COLUMN "changedIn" SET DEFAULT pg_current_xact_id()',
];

/** The writes of an entry, and what each is answered with. */
const writes = [
  { traffic: 'rest-create', title: 'creates', status: 201 },
  { traffic: 'rest-update', title: 'updates', status: 200 },
  { traffic: 'rest-remove', title: 'removals', status: 200 },
] as const;

/** The entries that removals take: those of the location of 100,000, each once. */
const removableEntries = 100_000;

/** The most that writers may pay: the processor time of a write with the feed, to that without. */
const mostCost = 1.05;

async function run({ sql }: Database, statements: readonly string[]): Promise<void> {
  for (const text of statements) await sql.query({ name: '', text }, []);
}

/** The processor time of the gateway and of its connections to PostgreSQL so far, in milliseconds. */
async function timeOfWriters({ sql }: Database, server: Server): Promise<number> {
  const connections = await sql.query<{ pid: number }>(
    {
      name: '',
      text: `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
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

/** Compares writes in pairs of rounds, one with and one without the feed, in turns of who is first. */
export async function feedCost(bench: Bench): Promise<CaseResult> {
  const { database, rounds } = bench;
  const server = await bench.start('gateway');
  const load = bench.startLoad();
  // Each round has a part of them: a warm-up and the measured rounds, with and without the feed.
  const removalsOfRound = Math.floor(removableEntries / (2 * (rounds + 1)));
  let nextRemoval = -removalsOfRound;

  async function measure(
    load: LoadProcess,
    { traffic, status }: (typeof writes)[number],
    seconds: number,
  ): Promise<Round> {
    const isRemoval = traffic === 'rest-remove';
    const before = await timeOfWriters(database, server);
    const result = await load.run({
      traffic,
      side: 'gateway',
      origin: server.origin,
      world: bench.world,
      seconds,
      connections: isRemoval ? 10 : bench.connections,
      from: isRemoval ? (nextRemoval += removalsOfRound) : freshNumbers(),
    });
    const after = await timeOfWriters(database, server);
    expectStatuses([status])(result);
    return {
      perSecond: result.answers / result.seconds,
      processorMicroseconds: ((after - before) * 1000) / result.answers,
    };
  }

  try {
    const goals: GoalFigure[] = [];
    const notes: string[] = [];
    for (const write of writes) {
      const seconds = write.traffic === 'rest-remove' ? 1 : bench.seconds;
      const pairs: { on: Round; off: Round }[] = [];
      for (let round = -1; round < rounds; round++) {
        const pair: Partial<(typeof pairs)[number]> = {};
        for (const side of round % 2 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
          if (side === 'off') await run(database, withoutFeed);
          pair[side] = await measure(load, write, seconds);
          if (side === 'off') await run(database, withFeed);
        }
        if (round >= 0) pairs.push(pair as (typeof pairs)[number]);
      }
      const ratios = (figure: keyof Round) => median(pairs.map(({ on, off }) => on[figure] / off[figure]));
      goals.push({
        text: `processor time of ${write.title}, to that without the feed`,
        value: ratios('processorMicroseconds'),
        most: mostCost,
      });
      const figures = (side: 'on' | 'off') =>
        `${median(pairs.map((pair) => pair[side].processorMicroseconds)).toFixed(0)} µs, ${median(pairs.map((pair) => pair[side].perSecond)).toFixed(0)}/s`;
      notes.push(
        `${write.title}: with ${figures('on')}; without ${figures('off')}; rate with to without ${ratios('perSecond').toFixed(2)}`,
      );
    }
    return { name: 'feed', title: 'What the feed of a whitelist costs its writers', sides: [], goals, notes };
  } finally {
    load.stop();
    await server.stop();
  }
}
