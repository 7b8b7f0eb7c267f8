import { shareWithinLimit } from './cases.ts';
import { feedCost } from './feed-case.ts';
import { importCases } from './import-case.ts';
import { alternate, type Bench, expectStatuses, freshNumbers } from './measure.ts';
import { type Figure, measureUntilDecided, median, ratioOfPairs } from './pairs.ts';
import { processorTime, type Server } from './processes.ts';
import type { CaseResult } from './report.ts';
import { usageHour } from './usage-case.ts';
import { wholeList } from './whole-list-case.ts';
import { exactLimit } from './world.ts';

// This file contains the benchmark cases that need their own measuring code: long lists, imports, the whitelist feed,
// usage records, refused requests, large whitelists, and two gateway processes.

/** A benchmark case with its own measuring code. */
export interface SpecialCase {
  name: string;
  /**
   * True if the benchmark case needs PostgreSQL or a second gateway process. On the embedded database, the benchmark
   * skips the cases whose `needsServer` is true.
   */
  needsServer: boolean;
  needsScale: boolean;
  run(bench: Bench): Promise<CaseResult>;
}

/**
 * Creates a benchmark case that measures whether a request costs more when the whitelist has 1,000,000 entries instead
 * of 1,000.
 */
const flat = (name: string, title: string, small: string, large: string): SpecialCase => ({
  name,
  needsServer: false,
  needsScale: true,
  async run(bench) {
    const server = await bench.start('gateway');
    try {
      const sides = [
        { side: 'gateway', label: 'at 1,000', server, traffic: small },
        { side: 'gateway', label: 'at 1,000,000', server, traffic: large },
      ] as const;
      const result = await alternate(bench, sides, expectStatuses([200]), ([atSmall, atLarge]) => [
        {
          text: 'cost, 1,000,000 entries ÷ 1,000 entries',
          ...ratioOfPairs(atSmall!.rates, atLarge!.rates),
          most: 1.3,
        },
      ]);
      return { name, title, ...result };
    } finally {
      await server.stop();
    }
  },
});

/**
 * Measures how much processor time a refused request needs, compared with a gate decision in the same gateway process.
 */
async function refusals(bench: Bench): Promise<CaseResult> {
  const server = await bench.start('gateway');
  const sideOf = (traffic: string, status: number, tolerance?: number) =>
    ({ side: 'gateway', label: traffic, server, traffic, status, tolerance }) as const;
  const sides = [
    sideOf('gate', 200),
    sideOf('bad-key', 401),
    sideOf('over-limit', 429, shareWithinLimit),
  ] as const;
  const [, ...refusedSides] = sides;
  try {
    const result = await alternate(
      bench,
      sides,
      (measured, { status, tolerance }) => expectStatuses([status], tolerance)(measured),
      ([gate, ...refused]) =>
        refused.map(({ processorTimes }, index) => ({
          text: `processor time, status ${refusedSides[index]!.status} ÷ gate decision`,
          ...ratioOfPairs(processorTimes, gate!.processorTimes),
          most: 1 / 3,
        })),
    );
    return { name: 'refusals', title: 'Refused requests', ...result };
  } finally {
    await server.stop();
  }
}

const exactQuestions = exactLimit * 3;

async function twoProcesses(bench: Bench): Promise<CaseResult> {
  const servers: Server[] = [];
  const loads = [bench.startLoad(), bench.startLoad()];
  const [first, second] = loads as [(typeof loads)[0], (typeof loads)[0]];
  try {
    servers.push(await bench.start('gateway'), await bench.start('gateway'));
    const gates = (index: number, connections: number) =>
      (index ? second : first).run({
        traffic: 'gate',
        side: 'gateway',
        origin: servers[index]!.origin,
        world: bench.world,
        seconds: bench.longRoundSeconds,
        connections,
        from: freshNumbers(),
      });
    const half = bench.connections / 2;
    const ones: number[] = [];
    const twos: number[] = [];
    const busy: number[] = [];
    async function measurePair(): Promise<void> {
      const one = await gates(0, bench.connections);
      const before = await processorTime(servers[0]!.pid);
      const two = await Promise.all([gates(0, half), gates(1, half)]);
      busy.push(((await processorTime(servers[0]!.pid)) ?? 0) - (before ?? 0));
      [one, ...two].forEach(expectStatuses([200]));
      ones.push(one.answers / one.seconds);
      twos.push(two.reduce((sum, { answers, seconds }) => sum + answers / seconds, 0));
    }
    const gain = (): Figure => ({
      text: 'decisions/s, two processes ÷ one process',
      ...ratioOfPairs(twos, ones),
      least: 1,
    });
    await measurePair();
    [ones, twos, busy].forEach((values) => values.splice(0));
    await measureUntilDecided(bench.pairs, measurePair, () => [gain()]);
    const answers = await Promise.all(
      Array.from({ length: exactQuestions }, async (_, number) => {
        const response = await fetch(`${servers[number % 2]!.origin}/api/health`, {
          headers: { 'X-API-Key': bench.world.exactSecret },
        });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    const allowed = answers.filter((status) => status === 200).length;
    return {
      name: 'two-processes',
      title: 'Gate decisions by two gateway processes',
      sides: [],
      figures: [
        gain(),
        {
          text: `requests allowed out of ${exactQuestions}, with a limit of ${exactLimit}`,
          value: allowed,
          least: exactLimit,
          most: exactLimit,
        },
      ],
      notes: [
        `one ${median(ones).toFixed(0)}/s, two ${median(twos).toFixed(0)}/s; ` +
          `each of the two used ${((median(busy) / (bench.longRoundSeconds * 1000)) * 100).toFixed(0)}% of a core: ` +
          'load, PostgreSQL and Redis run on the same machine',
      ],
    };
  } finally {
    loads.forEach((load) => load.stop());
    await Promise.all(servers.map((server) => server.stop()));
  }
}

export const specialCases: readonly SpecialCase[] = [
  { name: 'refusals', needsServer: false, needsScale: false, run: refusals },
  { name: 'list-100000', needsServer: false, needsScale: false, run: wholeList },
  ...importCases,
  { name: 'feed', needsServer: true, needsScale: false, run: feedCost },
  { name: 'two-processes', needsServer: true, needsScale: false, run: twoProcesses },
  { name: 'usage-hour', needsServer: true, needsScale: true, run: usageHour },
  flat('flat-gate', 'Gate decision with a large whitelist', 'gate-at-1000', 'gate-at-1000000'),
  flat('flat-list', 'List of one reference id with a large whitelist', 'list-at-1000', 'list-at-1000000'),
];
