import { feedCost } from './feed-case.ts';
import { importing } from './import-case.ts';
import { alternate, type Bench, expectStatuses, freshNumbers } from './measure.ts';
import { median, ratioOfPairs } from './pairs.ts';
import { processorTime, type Server } from './processes.ts';
import type { CaseResult } from './report.ts';
import { usageHour } from './usage-case.ts';
import { wholeList } from './whole-list-case.ts';
import { exactLimit } from './world.ts';

// What is more than requests per second: long answers, one large request, growth, and two processes.

/** A case that measures in its own way. */
export interface SpecialCase {
  name: string;
  /** Whether it needs PostgreSQL, and a peer or a second process. */
  needsPeers: boolean;
  needsScale: boolean;
  run(bench: Bench): Promise<CaseResult>;
}

/** What a question costs at 1,000,000 entries, against 1,000. */
const flat = (name: string, title: string, small: string, large: string): SpecialCase => ({
  name,
  needsPeers: false,
  needsScale: true,
  async run(bench) {
    const server = await bench.start('gateway');
    try {
      const [atSmall, atLarge] = await alternate(
        bench,
        [
          { side: 'gateway', label: 'at 1,000', server, traffic: small },
          { side: 'gateway', label: 'at 1,000,000', server, traffic: large },
        ],
        expectStatuses([200]),
      );
      const cost = ratioOfPairs(atSmall!.rates, atLarge!.rates);
      return {
        name,
        title,
        sides: [atSmall!, atLarge!],
        goals: [{ text: 'cost at 1,000,000 to 1,000', ...cost, most: 1.3 }],
      };
    } finally {
      await server.stop();
    }
  },
});

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
        seconds: bench.seconds,
        connections,
        from: freshNumbers(),
      });
    const half = bench.connections / 2;
    const ones: number[] = [];
    const twos: number[] = [];
    const busy: number[] = [];
    for (let round = -1; round < bench.rounds; round++) {
      const one = await gates(0, bench.connections);
      const before = await processorTime(servers[0]!.pid);
      const two = await Promise.all([gates(0, half), gates(1, half)]);
      busy.push(((await processorTime(servers[0]!.pid)) ?? 0) - (before ?? 0));
      [one, ...two].forEach(expectStatuses([200]));
      if (round < 0) continue;
      ones.push(one.answers / one.seconds);
      twos.push(two.reduce((sum, { answers, seconds }) => sum + answers / seconds, 0));
    }
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
    const gain = median(twos) / median(ones);
    return {
      name: 'two-processes',
      title: 'Two gateway processes against one, gate decisions',
      sides: [],
      goals: [
        { text: 'throughput of two to one', value: gain, least: 1 },
        {
          text: `allowed of ${exactQuestions} at both, limit ${exactLimit}`,
          value: allowed,
          least: exactLimit,
          most: exactLimit,
        },
      ],
      notes: [
        `one ${median(ones).toFixed(0)}/s, two ${median(twos).toFixed(0)}/s; ` +
          `each of the two used ${((median(busy) / (bench.seconds * 1000)) * 100).toFixed(0)}% of a core: ` +
          'load, PostgreSQL and Redis run on the same machine',
      ],
    };
  } finally {
    loads.forEach((load) => load.stop());
    await Promise.all(servers.map((server) => server.stop()));
  }
}

export const specialCases: readonly SpecialCase[] = [
  { name: 'list-100000', needsPeers: false, needsScale: false, run: wholeList },
  { name: 'import', needsPeers: true, needsScale: false, run: importing },
  { name: 'feed', needsPeers: true, needsScale: false, run: feedCost },
  { name: 'two-processes', needsPeers: true, needsScale: false, run: twoProcesses },
  { name: 'usage-hour', needsPeers: true, needsScale: true, run: usageHour },
  flat('flat-gate', 'Flat: gate decision', 'gate-at-1000', 'gate-at-1000000'),
  flat('flat-list', 'Flat: list of one reference id', 'list-at-1000', 'list-at-1000000'),
];
