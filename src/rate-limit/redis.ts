import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { groupBy } from '../database/group-by.ts';
import { createBatch } from '../scheduling/batch.ts';
import { keyOfShard, type Shards, shardsOf } from '../redis/shards.ts';
import type { MemoryRollingLimiter } from './memory.ts';
import type { RedisHealth } from './redis-health.ts';
import { RollingRes, takeFrom, type TakeOptions } from './rolling-res.ts';
import type { RateLimitSubject, RateLimitWindows, RollingLimiter, WindowState } from './types.ts';

/**
 * The Redis script that counts rate limit points in the hourly window and the burst window. One call of the script can
 * count the points of many API keys and client addresses. Each rate limit window is a Redis list with the time of every
 * used point, oldest first. The times of the points are in milliseconds and come from the clock of Redis. For each API
 * key or client address, KEYS contains the names of two Redis lists: its hourly window and its burst window. The first
 * values in ARGV are the lengths of the hourly window and the burst window. After these two lengths, ARGV contains four
 * values for each API key or client address. They are the points to use, the hourly limit, the burst limit, and the
 * time of an earlier point that the script refunds (or an empty string).
 */
const script = `
local hour_length, burst_length = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Removes the points that have left a window, and returns the number of remaining points. The function searches the
-- first remaining point in growing steps, and then between the last two steps: a loop over all points would block Redis.
local function count(key, length)
  local used = redis.call('LLEN', key)
  local function has_left(index)
    return tonumber(redis.call('LINDEX', key, index)) <= now - length
  end
  if used == 0 or not has_left(0) then return used end
  local low, high = 1, 1
  while high < used and has_left(high) do low, high = high + 1, high * 2 end
  high = math.min(high, used)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if has_left(middle) then low = middle + 1 else high = middle end
  end
  redis.call('LTRIM', key, low, -1)
  return used - low
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

local function take(hour_key, burst_key, points, hourly_limit, burst_limit, replaced_at)
  if replaced_at ~= '' then
    redis.call('LREM', hour_key, -1, replaced_at)
    redis.call('LREM', burst_key, -1, replaced_at)
  end
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
    tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i]), tonumber(ARGV[4 * i + 1]), ARGV[4 * i + 2])
end
return results
`;

/** The Redis client with the additional command `rlflxIncr`, which runs the Redis script (`script`). */
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

/** The arguments of the Redis script in the constant `script`, for one API key or client address. */
interface Question {
  key: string;
  points: number;
  hourlyLimit: number;
  burstLimit: number;
  replacedAtMs?: number | undefined;
}

/**
 * Returns the names of the two Redis lists that contain the rate limit windows of an API key or client address. The
 * name of the burst list contains the first name in braces, so a Redis Cluster stores both lists in one hash slot.
 */
const windowKeys = (key: string) => [key, `{${key}}:burst`];

/**
 * A rate limiter whose rate limit windows are in Redis. All gateway processes share the rate limit windows in Redis.
 * The class extends the Redis rate limiter of the library rate-limiter-flexible.
 *
 * The class inherits the method `consume` and the prefix of the Redis keys from the library. The library also registers
 * the Redis script on the Redis client. While Redis is unreachable, the library calls the fallback limiter ("insurance
 * limiter"). Two rate limiters cannot share a client, because both would register `rlflxIncr`.
 *
 * One call of the Redis rate limiter in the library can only increase one counter: the counter of one Redis key for one
 * fixed window. `RedisRollingLimiter` therefore replaces the Redis script and two methods of the library.
 *
 * The Redis script `script` counts rate limit points in two rolling windows. The constructor registers `script` for any
 * number of Redis keys. One call of the script can therefore contain several API keys and client addresses.
 *
 * The method `_upsert` sends the rate limits of each API key or address to the Redis script. The rate limiter collects
 * the calls that arrive during one iteration of the event loop, and sends them to Redis together. A round trip to Redis
 * takes more time than the execution of the Redis script. Each call of the Redis script contains only Redis keys of one
 * hash slot, because a Redis Cluster rejects a call with Redis keys of several hash slots. When the gateway knows that
 * a Redis server does not respond (redis-health.ts), a call to this server fails immediately.
 *
 * The method `_getRateLimiterRes` reads the state of both rate limit windows from the result of the Redis script. The
 * method `take` returns the state of both windows, no matter whether the rate limiter allows the request or refuses it.
 */
export class RedisRollingLimiter extends RateLimiterRedis implements RollingLimiter {
  readonly #client: ScriptedRedis;
  readonly #shards: Shards;
  readonly #health: RedisHealth | undefined;
  readonly #windowsMs: [hour: number, burst: number];
  readonly #probeId = randomUUID();
  /**
   * Maps each Redis server to a function that collects rate limit requests, and sends them to the server together. An
   * unresponsive server does not delay requests to other servers, because each server gets its own calls.
   */
  readonly #batches = new Map<string, (question: Question) => Promise<ScriptResult>>();

  /**
   * Creates a rate limiter that counts points in Redis.
   *
   * @param options.insurance the rate limiter that counts the points in this process while Redis is unreachable.
   *   Without the option `insurance`, the method `take` throws an error while Redis is unreachable
   * @param options.health the monitor that knows which Redis servers respond. With this monitor, no request waits for
   *   an unresponsive server
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
    // rate-limiter-flexible has registered the command `rlflxIncr` for exactly one Redis key. One call can contain
    // several API keys and addresses, so the constructor replaces the command with one for any number of Redis keys.
    client.defineCommand('rlflxIncr', { lua: script });
  }

  take(subject: RateLimitSubject, points: number, replacedAtMs?: number): Promise<WindowState> {
    return takeFrom(this, subject, points, replacedAtMs);
  }

  /**
   * Tests whether a Redis server can count rate limit points: counts and then removes a test point. The function sends
   * no ping: a full or read-only Redis server responds to a ping, but cannot count rate limit points.
   *
   * @throws when the Redis server does not respond, or when the Redis server cannot count rate limit points
   */
  async probe(shard: string): Promise<void> {
    const key = keyOfShard(this.#shards, shard, this.getKey(`probe:${this.#probeId}`));
    await this.#call([{ key, points: 1, hourlyLimit: 1, burstLimit: 1 }]);
    await this.#client.del(...windowKeys(key));
  }

  /**
   * Runs the Redis script in one call for several API keys or client addresses. In a Redis Cluster, the Redis lists of
   * all API keys and addresses in one call must be in one hash slot.
   */
  #call(questions: readonly Question[]): Promise<ScriptResult[]> {
    return this.#client.rlflxIncr(
      questions.length * 2,
      ...questions.flatMap(({ key }) => windowKeys(key)),
      ...this.#windowsMs,
      ...questions.flatMap((asked) => [
        asked.points,
        asked.hourlyLimit,
        asked.burstLimit,
        asked.replacedAtMs ?? '',
      ]),
    );
  }

  /**
   * Asks one Redis server to count the rate limit points of one request. The rate limiter collects the calls for one
   * Redis server during one iteration of the event loop, and sends them together.
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
   * Checks several requests against their rate limits in Redis, with one call of the Redis script for each hash slot of
   * the Redis Cluster. The list of results has the same order as the given list of requests. If Redis cannot check a
   * request, the list contains an error in place of the result of this request.
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

  /**
   * Counts the rate limit points of one API key or client address in Redis, and compares them with its rate limits.
   * This method replaces `_upsert` of rate-limiter-flexible, because the library uses the same limit for all API keys.
   */
  async _upsert(
    key: string,
    points: number,
    _durationMs: number,
    _forceExpire: boolean,
    { hourlyLimit, burstLimit, replacedAtMs }: TakeOptions,
  ): Promise<ScriptResult> {
    const shard = this.#shards.shardOf(key);
    // Requests to an unresponsive Redis server fail immediately, so that they do not wait for a timeout.
    if (this.#health && !this.#health.answersFor(shard)) throw new Error('Redis does not answer');
    try {
      return await this.#ask(shard, { key, points, hourlyLimit, burstLimit, replacedAtMs });
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
