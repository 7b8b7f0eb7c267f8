import type { Database } from '../src/database/types.ts';
import type { Side } from './cases.ts';
import type { Gateway } from '../src/gateway.ts';
import type { RawAnswer } from './limits.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { inRandomOrder, median } from './pairs.ts';
import { type LoadProcess, processorTime, type Server, watchMemory } from './processes.ts';
import type { SideFigures } from './report.ts';
import type { World } from './world.ts';

/** What a case has to work with. */
export interface Bench {
  world: World;
  database: Database;
  /** The pepper and the URLs are set already. */
  start(side: Side, nodeOptions?: string[]): Promise<Server>;
  /** Starts a server of Node alone that gives every request this answer. */
  startRaw(answer: RawAnswer): Promise<Server>;
  startLoad(): LoadProcess;
  /** Opens a gateway in this process, where one can see what it asks of the database. */
  openHere(): Promise<Gateway>;
  /** Where PostgreSQL is, and how many connections a side has; undefined on the embedded database. */
  postgres: { url: string; poolSize: number } | undefined;
  /** Pairs of rounds in which two sides are compared, and the seconds of each round. */
  pairs: number;
  pairSeconds: number;
  /** Rounds of what is measured in another way, and their seconds. */
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  connections: number;
  /** Whether peers that need PostgreSQL can run. */
  peers: boolean;
}

let numbers = 1;
/** The first of numbers that no other round uses. */
export const freshNumbers = () => (numbers += 10_000_000);

/** One side of a case: which server gets which traffic. */
export interface MeasuredSide {
  side: Side;
  label: string;
  server: Server;
  traffic: string;
}

/**
 * Loads the sides in short rounds, each side once and in a random order, again and again, and takes the median of each
 * figure. Rounds of the same place in `rates` and `p99s` belong together.
 */
export async function alternate(
  bench: Bench,
  sides: readonly MeasuredSide[],
  accept: (result: LoadResult) => void,
): Promise<SideFigures[]> {
  const load = bench.startLoad();
  const roundsOf = new Map(sides.map((side) => [side, [] as Round[]]));
  try {
    for (let round = -1; round < bench.pairs; round++) {
      for (const side of inRandomOrder(sides)) {
        const seconds = round < 0 ? bench.warmUpSeconds : bench.pairSeconds;
        const measured = await measureRound(load, side, {
          world: bench.world,
          connections: bench.connections,
          traffic: side.traffic,
          side: side.side,
          origin: side.server.origin,
          seconds,
          from: freshNumbers(),
        });
        accept(measured.result);
        if (round >= 0) roundsOf.get(side)!.push(measured);
      }
    }
  } finally {
    load.stop();
  }
  return sides.map((side) => figuresOf(side.label, roundsOf.get(side)!));
}

interface Round {
  result: LoadResult;
  peakMemory: number;
  processorMs: number | undefined;
}

async function measureRound(load: LoadProcess, { server }: MeasuredSide, job: LoadJob): Promise<Round> {
  const memory = watchMemory(server.pid);
  const before = await processorTime(server.pid);
  const result = await load.run(job);
  const after = await processorTime(server.pid);
  return {
    result,
    peakMemory: memory.stop(),
    processorMs: before === undefined || after === undefined ? undefined : after - before,
  };
}

function figuresOf(label: string, rounds: readonly Round[]): SideFigures {
  const rates = rounds.map(({ result }) => result.answers / result.seconds);
  const p99s = rounds.map(({ result }) => result.p99);
  const answers = rounds.reduce((sum, { result }) => sum + result.answers, 0);
  const processorMs = rounds.reduce((sum, round) => sum + (round.processorMs ?? Number.NaN), 0);
  return {
    label,
    perSecond: median(rates),
    p50: median(rounds.map(({ result }) => result.p50)),
    p99: median(p99s),
    peakMemory: Math.max(...rounds.map((round) => round.peakMemory)),
    processorMicroseconds: (processorMs * 1000) / answers,
    rates,
    p99s,
  };
}

/** Refuses a round in which anything went wrong. */
export function expectStatuses(statuses: readonly number[], tolerance = 0) {
  return ({ statuses: seen, failures, answers }: LoadResult): void => {
    const others = Object.entries(seen).filter(([status]) => !statuses.includes(Number(status)));
    const wrong = others.reduce((sum, [, count]) => sum + count, 0);
    if (answers === 0 || failures > 0 || wrong > answers * tolerance) {
      throw new Error(`${failures} failures, statuses ${JSON.stringify(seen)}`);
    }
  };
}
