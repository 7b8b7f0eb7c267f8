import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { groupBy } from '../database/group-by.ts';
import { createBatch } from '../database/statement-batch.ts';
import { keyOfShard, type Shards, shardsOf } from '../redis/shards.ts';
import type { MemoryRollingLimiter } from './memory.ts';
import type { RedisHealth } from './redis-health.ts';
import { RollingRes, takeFrom } from './rolling-res.ts';
import type { RateLimitSubject, RateLimitWindows, RollingLimiter, WindowState } from './types.ts';

/**
 * Both windows of many subjects in one round trip. Each window of a subject is a list with the time of every
 * counted point, oldest first, in milliseconds by Redis' own clock. ARGV: the lengths of both windows, then
 * points, hourly limit and burst limit of each subject. KEYS: both lists of each subject.
 */
const script = `
local hour_length, burst_length = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Drops the points that have left a window; returns how many are left.
local function count(key, length)
  local oldest = redis.call('LINDEX', key, 0)
  while oldest and tonumber(oldest) <= now - length do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  return redis.call('LLEN', key)
end

-- How long until a window has room for the points.
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

/** The limiter's own command, as rate-limiter-flexible registers it on the client. */
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

/** One subject's part of a call of the script. */
interface Question {
  key: string;
  points: number;
  hourlyLimit: number;
  burstLimit: number;
}

/** The keys of both windows of a subject. The braces give them one slot in a cluster. */
const windowKeys = (key: string) => [key, `{${key}}:burst`];

/**
 * Rolling windows that all processes share: rate-limiter-flexible's Redis limiter with a script of ours in place
 * of its fixed window, and its insurance limiter for the time in which Redis does not answer. The requests of one
 * turn of the event loop travel together, in a cluster those of one slot in one call: a call over several slots is
 * refused there. Needs a client of its own, since the script is registered on it.
 */
export class RedisRollingLimiter extends RateLimiterRedis implements RollingLimiter {
  readonly #client: ScriptedRedis;
  readonly #shards: Shards;
  readonly #health: RedisHealth | undefined;
  readonly #windowsMs: [hour: number, burst: number];
  readonly #probeId = randomUUID();
  /** What joins the questions to one server: one that hangs keeps those to others from nothing. */
  readonly #batches = new Map<string, (question: Question) => Promise<ScriptResult>>();

  /**
   * @param options.insurance counts while Redis does not answer; without it `take` throws
   * @param options.health tells whether to ask Redis at all
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
    // The library registers its command for one key; ours is told how many there are.
    client.defineCommand('rlflxIncr', { lua: script });
  }

  take(subject: RateLimitSubject, points: number): Promise<WindowState> {
    return takeFrom(this, subject, points);
  }

  /**
   * Counts a point of nobody's on a server and removes it, so that writing is tried as well as the connection: a
   * Redis that is full or read-only answers, and does not count.
   *
   * @throws when the server does not answer or does not count
   */
  async probe(shard: string): Promise<void> {
    const key = keyOfShard(this.#shards, shard, this.getKey(`probe:${this.#probeId}`));
    await this.#call([{ key, points: 1, hourlyLimit: 1, burstLimit: 1 }]);
    await this.#client.del(...windowKeys(key));
  }

  /** Runs the script for questions whose keys have one slot. */
  #call(questions: readonly Question[]): Promise<ScriptResult[]> {
    return this.#client.rlflxIncr(
      questions.length * 2,
      ...questions.flatMap(({ key }) => windowKeys(key)),
      ...this.#windowsMs,
      ...questions.flatMap(({ points, hourlyLimit, burstLimit }) => [points, hourlyLimit, burstLimit]),
    );
  }

  /** Asks the server that has the key, together with the other questions to it of this turn. */
  #ask(shard: string, question: Question): Promise<ScriptResult> {
    let batch = this.#batches.get(shard);
    if (!batch) {
      batch = createBatch((questions) => this.#callBySlot(questions));
      this.#batches.set(shard, batch);
    }
    return batch(question);
  }

  /** The answers to questions in their order, an error for each that has none. */
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

  /** Asks Redis, in place of the library's own call that knows one limit for all keys. */
  async _upsert(
    key: string,
    points: number,
    _durationMs: number,
    _forceExpire: boolean,
    { hourlyLimit, burstLimit }: RateLimitSubject,
  ): Promise<ScriptResult> {
    const shard = this.#shards.shardOf(key);
    // Each request would otherwise wait for a timeout of its own.
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
