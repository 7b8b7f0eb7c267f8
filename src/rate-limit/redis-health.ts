import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Shards } from '../redis/shards.ts';

/**
 * The interval at which each Redis server is tested, in milliseconds. When a Redis connection stops responding, the
 * gateway detects this within `probeIntervalMs`.
 */
const probeIntervalMs = 1000;

/** The last known state of each Redis server: whether the server responds. */
export interface RedisHealth {
  /** Whether all Redis servers respond. */
  readonly answers: boolean;
  /** Whether a given Redis server responds. */
  answersFor(shard: string): boolean;
  /**
   * Marks a Redis server as unresponsive after a failed request. When a Redis server does not respond, the gateway
   * stops using it for rate limits until the server answers a test command.
   */
  failed(shard: string, cause: unknown): void;
  close(): void;
}

/**
 * Creates a monitor that knows which Redis servers respond. At regular intervals, the monitor tests every Redis server.
 * The monitor also tests failed Redis servers, so it detects when such a server responds again. The gateway never tests
 * a failed server during a client's request, because the client would have to wait for a timeout. If a Redis server is
 * connected when the monitor starts, the monitor treats this server as responsive.
 *
 * @param redis a Redis client; the caller has already waited for its first connection (`connected`)
 * @param probe sends a request to one server; the returned promise rejects when the server does not respond in time
 */
export function watchRedis(
  redis: Redis | Cluster,
  shards: Shards,
  probe: (shard: string) => Promise<void>,
  log: Logger,
): RedisHealth {
  const states = new Map<string, 'answers' | 'silent'>();
  let isClosed = false;

  /** Returns the log field with the name of a Redis server, or an empty object if there is only one Redis server. */
  const nameIn = (shard: string) => (shards.names().length > 1 ? { node: shard } : {});

  function failed(shard: string, cause: unknown): void {
    if (isClosed || states.get(shard) === 'silent') return;
    states.set(shard, 'silent');
    const message = cause instanceof Error ? cause.message : String(cause);
    log.warn(
      { cause: message, ...nameIn(shard) },
      'Redis does not answer; each process enforces rate limits separately',
    );
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
    log.info(nameIn(shard), 'Redis answers again; all processes share the rate limits');
  }
  function askAll(): void {
    const present = shards.names();
    for (const shard of states.keys()) if (!present.includes(shard)) states.delete(shard);
    for (const shard of present) void ask(shard);
  }
  for (const shard of shards.names()) {
    if (shards.isConnected(shard)) states.set(shard, 'answers');
    else failed(shard, new Error('Redis is not connected'));
  }
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
