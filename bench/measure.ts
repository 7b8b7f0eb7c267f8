import { isDeepStrictEqual } from 'node:util';
import type { Database } from '../src/database/types.ts';
import { type ComparedCase, type Side, trafficOf } from './cases.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { type LoadProcess, processorTime, type Server, watchMemory } from './processes.ts';
import type { CaseResult, SideFigures } from './report.ts';
import { removeCreated } from './seed.ts';
import type { World } from './world.ts';

/** What a case has to work with. */
export interface Bench {
  world: World;
  database: Database;
  /** The pepper and the URLs are set already. */
  start(side: Side, nodeOptions?: string[]): Promise<Server>;
  startLoad(): LoadProcess;
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

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** One side of a case: which server gets which traffic. */
export interface MeasuredSide {
  side: Side;
  label: string;
  server: Server;
  traffic: string;
}

/** Loads the sides in turns and takes the median of each figure over the rounds. */
export async function alternate(
  bench: Bench,
  sides: readonly MeasuredSide[],
  accept: (result: LoadResult) => void,
): Promise<SideFigures[]> {
  const load = bench.startLoad();
  const roundsOf = new Map(sides.map((side) => [side, [] as Round[]]));
  try {
    for (let round = -1; round < bench.rounds; round++) {
      for (const side of sides) {
        const seconds = round < 0 ? bench.warmUpSeconds : bench.seconds;
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
  const answers = rounds.reduce((sum, { result }) => sum + result.answers, 0);
  const processorMs = rounds.reduce((sum, round) => sum + (round.processorMs ?? Number.NaN), 0);
  return {
    label,
    perSecond: median(rates),
    p50: median(rounds.map(({ result }) => result.p50)),
    p99: median(rounds.map(({ result }) => result.p99)),
    peakMemory: Math.max(...rounds.map((round) => round.peakMemory)),
    processorMicroseconds: (processorMs * 1000) / answers,
    rates,
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

/** Measures a case against its peer, after making sure that both give the same answers. */
export async function compare(bench: Bench, compared: ComparedCase): Promise<CaseResult> {
  const { name, title, peer, statuses, goal, lowerP99, traffic = name, tolerance } = compared;
  const names: Side[] = bench.peers ? ['gateway', peer] : ['gateway'];
  const servers: Server[] = [];
  try {
    for (const side of names) servers.push(await bench.start(side));
    const sides = names.map((side, index) => ({ side, label: side, server: servers[index]!, traffic }));
    if (bench.peers) await expectEqualAnswers(bench, compared, sides);
    const figures = await alternate(bench, sides, expectStatuses(statuses, tolerance));
    const [gateway, other] = figures;
    const ratio = other && gateway!.perSecond / other.perSecond;
    return {
      name,
      title,
      sides: figures,
      ...(ratio !== undefined && { ratio }),
      goals: other
        ? [
            ...(goal ? [{ text: 'throughput to peer', value: ratio!, least: goal }] : []),
            ...(lowerP99 ? [{ text: 'p99 to peer', value: gateway!.p99 / other.p99, most: 1 }] : []),
          ]
        : [],
    };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Requests whose answers are compared. */
const comparedNumbers = [1, 2, 3, 4, 5, 6, 7, 8, 30, 31];

async function expectEqualAnswers(
  bench: Bench,
  { name, statuses, data = {} }: ComparedCase,
  sides: readonly MeasuredSide[],
): Promise<void> {
  for (const number of comparedNumbers) {
    const answers: unknown[] = [];
    for (const { side, server, traffic } of sides) {
      const { path, ...request } = trafficOf(traffic, side, bench.world).build(number);
      let response = await fetch(server.origin + path, request);
      // A limit is reached by the second request.
      if (!statuses.includes(response.status)) response = await fetch(server.origin + path, request);
      const body = (await response.json()) as never;
      if (!statuses.includes(response.status))
        throw new Error(`${name}: ${side} answers ${response.status}: ${JSON.stringify(body).slice(0, 300)}`);
      answers.push({
        data: comparable(data[side]?.(body) ?? body),
        headers: sides.every((other) => sendsOurHeaders(other.side)) ? headerNames(response) : [],
      });
      await removeCreated(bench.database);
    }
    if (!isDeepStrictEqual(answers[0], answers[1])) {
      throw new Error(
        `${name}: the answers differ: ${answers.map((answer) => JSON.stringify(answer).slice(0, 600)).join('\n')}`,
      );
    }
  }
}

/** Peers that are to send the headers of the gateway. */
const sendsOurHeaders = (side: Side) => side !== 'postgraphile' && side !== 'sofa';
/** What depends on how a body was written, on the connection, and on the surface that answers. */
const transport = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'etag',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

const headerNames = ({ headers }: Response) => [...headers.keys()].filter((name) => !transport.has(name));

const made = new Set(['createdAt', 'updatedAt', 'requestId', 'version']);

/** An answer without what each request has of its own; times as the instants that they are. */
function comparable(value: unknown): unknown {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return Date.parse(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(comparable);
  const isNew = (value as { note?: unknown }).note === 'benchmark';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !made.has(key) && !(isNew && key === 'id'))
      .map(([key, item]) => [key, comparable(item)]),
  );
}
