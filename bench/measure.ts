import type { Database } from '../src/database/types.ts';
import type { Side } from './traffic.ts';
import type { Gateway } from '../src/gateway.ts';
import type { RawAnswer } from './limits.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { type Figure, inRandomOrder, measureUntilDecided, median } from './pairs.ts';
import { type LoadProcess, processorTime, type Server, watchMemory } from './processes.ts';
import type { SideFigures } from './report.ts';
import type { World } from './world.ts';

/** The servers, databases and settings for the cases. */
export interface Bench {
  world: World;
  database: Database;
  /**
   * Starts the gateway or a server with which it is compared (a peer). The environment has the pepper and the URLs of
   * the databases.
   */
  start(side: Side, nodeOptions?: string[]): Promise<Server>;
  /** Starts a plain Node server that answers every request with the same response. */
  startRaw(answer: RawAnswer): Promise<Server>;
  startLoad(): LoadProcess;
  /**
   * Opens a database for direct SQL statements. It is the gateway's own database, or a second embedded database with
   * the same locations.
   */
  openBeside(): Promise<{ database: Database; isSame: boolean; close(): Promise<void> }>;
  /** Opens a gateway in this process, so that its SQL statements can be recorded. */
  openHere(): Promise<Gateway>;
  /** The URL of PostgreSQL and the size of each server's connection pool; undefined for the embedded database. */
  postgres: { url: string; poolSize: number } | undefined;
  /** The minimum and the maximum number of pairs of rounds in which two servers are compared. */
  pairs: { least: number; most: number };
  pairSeconds: number;
  /** The duration of a round at a constant rate, in seconds. It must be long enough for measuring the p99. */
  longRoundSeconds: number;
  warmUpSeconds: number;
  connections: number;
  /** Whether the servers with which the gateway is compared (peers) can run. They need PostgreSQL. */
  peers: boolean;
}

let numbers = 1;
/** Reserves a range of request numbers for a round. Returns the first number. */
export const freshNumbers = () => (numbers += 10_000_000);

/** The gateway or a peer in a case, with its process and its requests. */
export interface MeasuredSide {
  side: Side;
  label: string;
  server: Server;
  traffic: string;
}

/**
 * Measures servers in short rounds and returns the median of each figure. In each repetition, every server has one
 * round, in random order. The rounds of one repetition have the same index in `rates` and `p99s`.
 *
 * @param figuresOfCase computes the figures of the case; measuring stops when it is clear whether they meet their goals
 */
export async function alternate(
  bench: Bench,
  sides: readonly MeasuredSide[],
  accept: (result: LoadResult) => void,
  figuresOfCase: (sides: SideFigures[]) => Figure[],
): Promise<{ sides: SideFigures[]; figures: Figure[] }> {
  const load = bench.startLoad();
  const roundsOf = new Map(sides.map((side) => [side, [] as Round[]]));
  const sidesSoFar = () => sides.map((side) => figuresOf(side.label, roundsOf.get(side)!));
  async function measurePair(seconds: number): Promise<void> {
    for (const side of inRandomOrder(sides)) {
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
      roundsOf.get(side)!.push(measured);
    }
  }
  try {
    await measurePair(bench.warmUpSeconds);
    for (const rounds of roundsOf.values()) rounds.length = 0;
    await measureUntilDecided(
      bench.pairs,
      () => measurePair(bench.pairSeconds),
      () => figuresOfCase(sidesSoFar()),
    );
  } finally {
    load.stop();
  }
  const measured = sidesSoFar();
  return { sides: measured, figures: figuresOfCase(measured) };
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

/** Returns a function that throws when the responses of a round have unexpected statuses. */
export function expectStatuses(statuses: readonly number[], tolerance = 0) {
  return ({ statuses: seen, failures, answers }: LoadResult): void => {
    const others = Object.entries(seen).filter(([status]) => !statuses.includes(Number(status)));
    const wrong = others.reduce((sum, [, count]) => sum + count, 0);
    if (answers === 0 || failures > 0 || wrong > answers * tolerance) {
      throw new Error(`${failures} failures, statuses ${JSON.stringify(seen)}`);
    }
  };
}
