import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { groupBy } from '../database/group-by.ts';
import { createBatch } from '../scheduling/batch.ts';
import { keyOfShard, type Shards, shardsOf } from '../redis/shards.ts';
import type { MemoryRollingLimiter } from './memory.ts';
import type { RedisHealth } from './redis-health.ts';
import { RollingRes, takeFrom } from './rolling-res.ts';
import type { RateLimitSubject, RateLimitWindows, RollingLimiter, WindowState } from './types.ts';

/**
 * The Redis script that counts both windows for many API keys or addresses in one round trip. Each window is a Redis
 * list with the time of every used point, oldest first, in milliseconds by the clock of Redis. KEYS has both lists of
 * each key or address. ARGV has the lengths of both windows, and then the points, the hourly limit and the burst limit
 * of each key or address.
 */
const script = `
local hour_length, burst_length = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- removes the points that have left a window, and returns the number of remaining points
local function count(key, length)
  local oldest = redis.call('LINDEX', key, 0)
  while oldest and tonumber(oldest) <= now - length do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  return redis.call('LLEN', key)
end

-- returns how long until a window has room for the points
local function wait_for(key, length, used, points, limit)
  if points > limit then return length end
  local index = used + points - limit - 1
  if index < 0 then return 0 end
  return math.max(tonumber(redis.call('LINDEX', key, index)) + length - now, 0)
end

local function add(key, length, points)
  for point = 1, points do redis.call('RPUSH', key, now) end
  redis.call('PEXPIRE', key, length)
end

local function reset_at(key, length)
  local oldest = redis.call('LINDEX', key, 0)
  return oldest and tonumber(oldest) + length or now
end

local function take(hour_key, burst_key, points, hourly_limit, burst_limit)
  local hour_used, burst_used = count(hour_key, hour_length), count(burst_key, burst_length)
  local retry_after = math.max(
    wait_for(hour_key, hour_length, hour_used, points, hourly_limit),
    wait_for(burst_key, burst_length, burst_used, points, burst_limit))
  if retry_after == 0 and points > 0 then
    add(hour_key, hour_length, points)
    add(burst_key, burst_length, points)
    hour_used, burst_used = hour_used + points, burst_used + points
  end
  return { retry_after, now,
    hour_used, reset_at(hour_key, hour_length), burst_used, reset_at(burst_key, burst_length) }
end

local results = {}
for i = 1, #KEYS / 2 do
  results[i] = take(KEYS[2 * i - 1], KEYS[2 * i],
    tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2]))
end
return results
`;

/** The client with the command that rate-limiter-flexible adds for the script. */
type ScriptedRedis = (Redis | Cluster) & {
  rlflxIncr(...args: (string | number)[]): Promise<ScriptResult[]>;
};
type ScriptResult = [
  retryAfterMs: number,
  nowMs: number,
  hourUsed: number,
  hourResetAtMs: number,
  burstUsed: number,
  burstResetAtMs: number,
];

/** The arguments of the script for one API key or client address. */
interface Question {
  key: string;
  points: number;
  hourlyLimit: number;
  burstLimit: number;
}

/**
 * Returns the names of the two Redis lists with the windows of a key or address. The braces put both lists into the
 * same slot of a Redis Cluster.
 */
const windowKeys = (key: string) => [key, `{${key}}:burst`];

/**
 * The rate limit windows in Redis, which all processes share. The class extends the Redis limiter of
 * rate-limiter-flexible.
 *
 * The library provides the method `consume`, the prefix of the Redis keys, and the registration of the script on the
 * client. It also calls the fallback limiter ("insurance limiter") while Redis is unreachable. No other limiter may use
 * the same client.
 *
 * The library counts one fixed window for each call. This class therefore replaces the following parts:
 *
 * - `script` counts two rolling windows. It replaces the script of the library (`customIncrTtlLuaScript`), and the
 *   constructor registers it again for any number of keys.
 * - `_upsert` sends separate limits for each key or address. It sends all calls of one iteration of the event loop
 *   together, because a round trip to Redis costs more than a count. It fails immediately when a server does not
 *   respond. In a cluster, it makes one call for each slot, because Redis rejects a call for several slots.
 * - `_getRateLimiterRes` reads the state of both windows (rolling-res.ts). `take` returns the state for allowed and for
 *   rejected requests.
 * - `probe` tests a server (redis-health.ts).
 */
export class RedisRollingLimiter extends RateLimiterRedis implements RollingLimiter {
  readonly #client: ScriptedRedis;
  readonly #shards: Shards;
  readonly #health: RedisHealth | undefined;
  readonly #windowsMs: [hour: number, burst: number];
  readonly #probeId = randomUUID();
  /**
   * For each Redis server, the function that sends several requests in one call. Each server has calls of its own, so
   * that an unresponsive server does not delay requests to the other servers.
   */
  readonly #batches = new Map<string, (question: Question) => Promise<ScriptResult>>();

  /**
   * Creates the limiter.
   *
   * @param options.insurance counts while Redis is unreachable; without this limiter, `take` throws
   * @param options.health knows which servers respond, so that no request waits for an unresponsive server
   */
  constructor(
    client: Redis | Cluster,
    options: RateLimitWindows & { insurance?: MemoryRollingLimiter; health?: RedisHealth },
  ) {
    const { windowSeconds, burstWindowSeconds, insurance, health } = options;
    super({
      storeClient: client,
      customIncrTtlLuaScript: script,
      keyPrefix: 'rate-limit',
      points: Number.MAX_SAFE_INTEGER,
      duration: windowSeconds,
      ...(insurance && { insuranceLimiter: insurance }),
    });
    this.#client = client as ScriptedRedis;
    this.#shards = shardsOf(client);
    this.#health = health;
    this.#windowsMs = [windowSeconds * 1000, burstWindowSeconds * 1000];
    // The library registers the command for exactly one key. It is registered again here, because the number of keys
    // differs from call to call.
    client.defineCommand('rlflxIncr', { lua: script });
  }

  take(subject: RateLimitSubject, points: number): Promise<WindowState> {
    return takeFrom(this, subject, points);
  }

  /**
   * Tests whether a Redis server can count, by counting and removing a test point. A full or read-only Redis server
   * still responds, but cannot count.
   *
   * @throws when the server does not respond or cannot count
   */
  async probe(shard: string): Promise<void> {
    const key = keyOfShard(this.#shards, shard, this.getKey(`probe:${this.#probeId}`));
    await this.#call([{ key, points: 1, hourlyLimit: 1, burstLimit: 1 }]);
    await this.#client.del(...windowKeys(key));
  }

  /** Runs the script for several API keys or addresses. Their Redis lists must be in the same slot. */
  #call(questions: readonly Question[]): Promise<ScriptResult[]> {
    return this.#client.rlflxIncr(
      questions.length * 2,
      ...questions.flatMap(({ key }) => windowKeys(key)),
      ...this.#windowsMs,
      ...questions.flatMap(({ points, hourlyLimit, burstLimit }) => [points, hourlyLimit, burstLimit]),
    );
  }

  /**
   * Sends a request to one Redis server. Requests to the same server in one iteration of the event loop are sent
   * together.
   */
  #ask(shard: string, question: Question): Promise<ScriptResult> {
    let batch = this.#batches.get(shard);
    if (!batch) {
      batch = createBatch((questions) => this.#callBySlot(questions));
      this.#batches.set(shard, batch);
    }
    return batch(question);
  }

  /**
   * Runs the script once for each slot. Returns a result for each request, in the order of the requests; the result of
   * a failed request is an error.
   */
  async #callBySlot(questions: readonly Question[]): Promise<(ScriptResult | Error)[]> {
    const answers = new Map<Question, ScriptResult | Error>();
    const groups = groupBy(questions, ({ key }) => this.#shards.slotOf(key)).values();
    await Promise.all(
      [...groups].map(async (group) => {
        const results = await this.#call(group).catch((error: Error) => error);
        group.forEach((question, index) =>
          answers.set(question, results instanceof Error ? results : results[index]!),
        );
      }),
    );
    return questions.map((question) => answers.get(question)!);
  }

  /** Calls Redis. The method of the library is overridden, because it uses the same limit for all keys. */
  async _upsert(
    key: string,
    points: number,
    _durationMs: number,
    _forceExpire: boolean,
    { hourlyLimit, burstLimit }: RateLimitSubject,
  ): Promise<ScriptResult> {
    const shard = this.#shards.shardOf(key);
    // Requests to an unresponsive server fail immediately. Otherwise each request would wait for its own timeout.
    if (this.#health && !this.#health.answersFor(shard)) throw new Error('Redis does not answer');
    try {
      return await this.#ask(shard, { key, points, hourlyLimit, burstLimit });
    } catch (error) {
      this.#health?.failed(shard, error);
      throw error;
    }
  }

  _getRateLimiterRes(_key: string, _points: number, result: ScriptResult): RollingRes {
    const [retryAfterMs, nowMs, hourUsed, hourResetAtMs, burstUsed, burstResetAtMs] = result;
    return new RollingRes({
      allowed: retryAfterMs === 0,
      retryAfterMs,
      nowMs,
      hour: { used: hourUsed, resetAtMs: hourResetAtMs },
      burst: { used: burstUsed, resetAtMs: burstResetAtMs },
    });
  }
}
