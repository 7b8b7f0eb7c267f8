import type { Database } from '../src/database/types.ts';
import type { Side } from './traffic.ts';
import type { Gateway } from '../src/gateway.ts';
import type { RawAnswer } from './limits.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { type Figure, inRandomOrder, measureUntilDecided, median } from './pairs.ts';
import { type LoadProcess, processorTime, type Server, watchMemory } from './processes.ts';
import type { SideFigures } from './report.ts';
import type { World } from './world.ts';

/** The servers, databases and settings that the benchmark cases use. */
export interface Bench {
  world: World;
  database: Database;
  /**
   * Starts the gateway or a server with which the gateway is compared (a peer). The started server gets the URLs of the
   * databases and the secret for hashing API keys (the pepper) as environment variables.
   */
  start(side: Side, nodeOptions?: string[]): Promise<Server>;
  /** Starts a plain Node server that answers every request with the same response. */
  startRaw(answer: RawAnswer): Promise<Server>;
  startLoad(): LoadProcess;
  /**
   * Opens a database in which a benchmark can run SQL statements without the gateway. If the gateway uses PostgreSQL,
   * `openBeside` opens the gateway's own database. If the gateway uses the embedded database, `openBeside` opens
   * another embedded database, and adds the locations of the gateway to this other database.
   */
  openBeside(): Promise<{ database: Database; isSame: boolean; close(): Promise<void> }>;
  /** Opens a gateway in the benchmark process, so that the benchmark can record the SQL statements of the gateway. */
  openHere(): Promise<Gateway>;
  /** The URL of PostgreSQL and the size of each server's connection pool, or `undefined` for the embedded database. */
  postgres: { url: string; poolSize: number } | undefined;
  /**
   * A comparison of two servers consists of pairs of measurements: at least `least` pairs, and at most `most` pairs.
   */
  pairs: { least: number; most: number };
  pairSeconds: number;
  /**
   * The duration of a measurement of gate decisions, in seconds. A measurement of gate decisions takes longer than
   * other measurements, because the 99th percentile (p99) of the response times needs many responses.
   */
  longRoundSeconds: number;
  warmUpSeconds: number;
  connections: number;
  /**
   * Whether the benchmark can start the peers (the servers with which the benchmark compares the gateway). Peers need
   * PostgreSQL.
   */
  peers: boolean;
}

let numbers = 1;
/**
 * Reserves a range of request numbers for one measurement, and returns the first request number of the range. No other
 * measurement gets the same range.
 */
export const freshNumbers = () => (numbers += 10_000_000);

/**
 * A server that a benchmark case measures (the gateway or a peer), and the kind of requests that the benchmark sends to
 * this server.
 */
export interface MeasuredSide {
  side: Side;
  label: string;
  server: Server;
  traffic: string;
}

/**
 * Measures each server several times for a short time, and returns the median of each figure. In each repetition of the
 * measurements, the benchmark measures every server once, in random order. The arrays `rates` and `p99s` contain one
 * value for each repetition, in the order of the repetitions.
 *
 * @param accept a function that checks the responses of a server, and throws an error when the server sent unexpected
 *   responses
 * @param figuresOfCase a function that computes the figures of a benchmark case from the measurements. The measurement
 *   stops when the results show for every figure, without doubt, whether the figure meets its goal
 */
export async function alternate<MeasuredServer extends MeasuredSide>(
  bench: Bench,
  sides: readonly MeasuredServer[],
  accept: (result: LoadResult, side: MeasuredServer) => void,
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
      accept(measured.result, side);
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
    processorTimes: rounds.map((round) => ((round.processorMs ?? Number.NaN) * 1000) / round.result.answers),
    rates,
    p99s,
  };
}

/**
 * Returns a function that checks the responses of a measurement, and throws an error when too many of them have
 * unexpected HTTP statuses.
 */
export function expectStatuses(statuses: readonly number[], tolerance = 0) {
  return ({ statuses: seen, failures, answers }: LoadResult): void => {
    const others = Object.entries(seen).filter(([status]) => !statuses.includes(Number(status)));
    const wrong = others.reduce((sum, [, count]) => sum + count, 0);
    if (answers === 0 || failures > 0 || wrong > answers * tolerance) {
      throw new Error(`${failures} failures, statuses ${JSON.stringify(seen)}`);
    }
  };
}
