import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defaultLimits } from '../../src/auth/key.ts';
import { residentMemory, type Server, watchMemory } from '../processes.ts';
import type { Decision, GatesResult } from './gates.ts';
import type { WorstWorld } from './seed.ts';
import type { SpendJob, SpendResult } from './spend.ts';

/**
 * The results of an attack, which is a measurement with one kind of expensive requests. The results show how much the
 * attack delayed the gate decisions, and how much memory the attack needed. All delays are in milliseconds.
 */
export interface AttackResult {
  attack: string;
  /** The delays of gate decisions before the benchmark sends the first expensive request. */
  quiet: number[];
  /** The longest delay of a gate decision while the gateway handles a single expensive request. */
  largestOfOne: number;
  /** The delays of gate decisions while a client uses up the rate limit of an API key with expensive requests. */
  busy: number[];
  busySeconds: number;
  /** The number of requests for gate decisions that failed or whose response did not have status 200. */
  failures: number;
  /** The largest growth of the gateway's memory during the expensive requests, in MiB. */
  growth: number;
  statuses: Record<number, number>;
  sample: string;
}

const warmUpMs = 2_000;
const quietMs = 2_000;
/**
 * The time that the benchmark waits after the expensive requests, in milliseconds. While the benchmark waits, the
 * gateway completes the work that the expensive requests have caused.
 */
const settleMs = 500;
/**
 * The number of expensive requests that the benchmark sends at the same time. A gateway process runs at most 50
 * requests of one API key at the same time.
 */
const atOnce = 50;

const child = (name: string) =>
  fork(fileURLToPath(new URL(`../dist/bench-${name}.js`, import.meta.url)), { execArgv: [] });

async function answerOf<Result>(process: ChildProcess, message: object | string): Promise<Result> {
  const waiting = new AbortController();
  const ended = once(process, 'exit', { signal: waiting.signal }).then(() => {
    throw new Error('a process of the benchmark exited');
  });
  ended.catch(() => undefined);
  process.send(message);
  const [result] = (await Promise.race([once(process, 'message'), ended])) as [Result];
  waiting.abort();
  return result;
}

/**
 * Uses up the rate limit of an API key with one kind of expensive request, and meanwhile measures the delays of gate
 * decisions for other companies.
 */
export async function measureAttack(
  server: Server,
  { attack, world, maxSeconds }: { attack: string; world: WorstWorld; maxSeconds: number },
): Promise<AttackResult> {
  const gates = child('gates');
  const spender = child('spend');
  try {
    gates.send({ origin: server.origin, world });
    await sleep(warmUpMs);
    const quietFrom = Date.now();
    await sleep(quietMs);
    const before = (await residentMemory(server.pid)) ?? Number.NaN;
    const memory = watchMemory(server.pid);
    const job: SpendJob = { attack, origin: server.origin, world, requests: 1, atOnce: 1, maxSeconds };
    const oneFrom = Date.now();
    const one = await answerOf<SpendResult>(spender, { ...job, maxSeconds: maxSeconds / 2 });
    await sleep(settleMs);
    const allFrom = Date.now();
    const all = await answerOf<SpendResult>(spender, {
      ...job,
      requests: defaultLimits.burstLimit - 1,
      atOnce,
    });
    await sleep(settleMs);
    const growth = memory.stop() - before;
    const endedAt = Date.now();
    const { decisions, failures } = await answerOf<GatesResult>(gates, 'stop');
    const between = (from: number, to: number) => delaysOf(decisions, from, to);
    return {
      attack,
      quiet: between(quietFrom, oneFrom),
      largestOfOne: Math.max(...between(oneFrom, allFrom)),
      busy: between(allFrom, endedAt),
      busySeconds: all.seconds,
      failures,
      growth,
      statuses: all.statuses,
      sample: one.sample,
    };
  } finally {
    gates.kill();
    spender.kill();
  }
}

const delaysOf = (decisions: readonly Decision[], from: number, to: number) =>
  decisions.filter(({ askedAt }) => askedAt >= from && askedAt < to).map(({ delay }) => delay);
