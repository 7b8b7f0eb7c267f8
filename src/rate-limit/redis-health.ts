import { Cluster, type Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Shards } from '../redis/shards.ts';

/** How often Redis is asked whether it answers, in milliseconds: a silent connection is noticed in this time. */
const probeIntervalMs = 1000;

/** Which servers of Redis answer the limiter. */
export interface RedisHealth {
  /** Whether all of them do. */
  readonly answers: boolean;
  /** Whether one of them does. */
  answersFor(shard: string): boolean;
  /** Notes that a request was not answered; those that follow do not ask this server until a probe is answered. */
  failed(shard: string, cause: unknown): void;
  close(): void;
}

/**
 * Knows which servers of Redis answer. Requests never find out whether one is back, since each would wait for its
 * timeout: a probe does.
 *
 * @param probe asks one server; rejects when there is no answer in time
 */
export function watchRedis(
  redis: Redis | Cluster,
  shards: Shards,
  probe: (shard: string) => Promise<void>,
  log: Logger,
): RedisHealth {
  const states = new Map<string, 'answers' | 'silent'>();
  let isClosed = false;

  /** Which one it is, where there are several. */
  const nameIn = (shard: string) => (shards.names().length > 1 ? { node: shard } : {});

  function failed(shard: string, cause: unknown): void {
    if (isClosed || states.get(shard) === 'silent') return;
    states.set(shard, 'silent');
    const message = cause instanceof Error ? cause.message : String(cause);
    log.warn({ cause: message, ...nameIn(shard) }, 'Redis does not answer: each process limits on its own');
  }
  async function ask(shard: string): Promise<void> {
    try {
      await probe(shard);
    } catch (error) {
      failed(shard, error);
      return;
    }
    if (isClosed || states.get(shard) === 'answers') return;
    states.set(shard, 'answers');
    log.info(nameIn(shard), 'Redis answers: limits are shared by all processes');
  }
  function askAll(): void {
    const present = shards.names();
    for (const shard of states.keys()) if (!present.includes(shard)) states.delete(shard);
    for (const shard of present) void ask(shard);
  }
  // A cluster is ready before each of its nodes is connected: they are asked once what probes them is complete.
  if (redis instanceof Cluster) setImmediate(askAll);
  else if (redis.status === 'ready') states.set(shards.names()[0]!, 'answers');
  redis.on('ready', askAll);
  redis.on('close', () => {
    for (const shard of shards.names()) failed(shard, new Error('Redis connection closed'));
  });
  const timer = setInterval(askAll, probeIntervalMs).unref();

  return {
    get answers() {
      return states.size > 0 && [...states.values()].every((state) => state === 'answers');
    },
    answersFor: (shard) => states.get(shard) === 'answers',
    failed,
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
