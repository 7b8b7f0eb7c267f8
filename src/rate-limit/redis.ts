import type { Redis } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createBatch } from './batch.ts';
import type { RateLimitSubject, RateLimitWindows, RollingLimiter, WindowState } from './limiter.ts';

/**
 * Both windows of many subjects in one round trip. The list of a subject holds the time of every counted
 * point, oldest first, in milliseconds by Redis' own clock: its length is what the hour has used, and one
 * element by its index tells whether the burst has room.
 */
const script = `
local window, burst_window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function take(key, points, hourly_limit, burst_limit)
  local oldest = redis.call('LINDEX', key, 0)
  while oldest and tonumber(oldest) <= now - window do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  local used = redis.call('LLEN', key)

  local function wait_for(limit, length)
    if points > limit then return length end
    local index = used + points - limit - 1
    if index < 0 then return 0 end
    return math.max(tonumber(redis.call('LINDEX', key, index)) + length - now, 0)
  end
  local retry_after = math.max(wait_for(hourly_limit, window), wait_for(burst_limit, burst_window))

  if retry_after == 0 then
    for point = 1, points do redis.call('RPUSH', key, now) end
    redis.call('PEXPIRE', key, window)
    used = used + points
    oldest = oldest or now
  end
  return { used, retry_after, oldest and tonumber(oldest) + window or now, now }
end

local results = {}
for i, key in ipairs(KEYS) do
  results[i] = take(key, tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2]))
end
return results
`;

/** The limiter's own command, as rate-limiter-flexible registers it on the client. */
type ScriptedRedis = Redis & { rlflxIncr(...args: (string | number)[]): Promise<ScriptResult[]> };
type ScriptResult = [used: number, retryAfterMs: number, resetAtMs: number, nowMs: number];

/** One subject's part of a call of the script. */
interface Question {
  key: string;
  points: number;
  hourlyLimit: number;
  burstLimit: number;
}

/** What rate-limiter-flexible passes around, with the state of the windows on it. */
class WindowRes extends RateLimiterRes {
  readonly state: WindowState;

  constructor([used, retryAfterMs, resetAtMs, nowMs]: ScriptResult) {
    const allowed = retryAfterMs === 0;
    // More points than any limiter has make rate-limiter-flexible refuse.
    super(0, retryAfterMs, allowed ? used : Infinity);
    this.state = { allowed, used, retryAfterMs, resetAtMs, nowMs };
  }
}

/**
 * Rolling windows that all processes share: rate-limiter-flexible's Redis limiter with a script of ours
 * in place of its fixed window. The requests of one turn of the event loop travel together. Needs a client
 * of its own, since the script is registered on it.
 */
export class RedisRollingLimiter extends RateLimiterRedis implements RollingLimiter {
  readonly #client: ScriptedRedis;
  readonly #ask: (question: Question) => Promise<ScriptResult>;

  constructor(client: Redis, { windowSeconds, burstWindowSeconds }: RateLimitWindows) {
    super({
      storeClient: client,
      customIncrTtlLuaScript: script,
      keyPrefix: 'rate-limit',
      points: Number.MAX_SAFE_INTEGER,
      duration: windowSeconds,
      rejectIfRedisNotReady: true,
    });
    this.#client = client as ScriptedRedis;
    // The library registers its command for one key; ours is told how many there are.
    client.defineCommand('rlflxIncr', { lua: script });
    this.#ask = createBatch((questions) =>
      this.#client.rlflxIncr(
        questions.length,
        ...questions.map(({ key }) => key),
        windowSeconds * 1000,
        burstWindowSeconds * 1000,
        ...questions.flatMap(({ points, hourlyLimit, burstLimit }) => [points, hourlyLimit, burstLimit]),
      ),
    );
  }

  /** @throws when Redis does not answer */
  async take(subject: RateLimitSubject, points: number): Promise<WindowState> {
    const result = await this.consume(subject.id, points, { ...subject }).catch((refusal: unknown) => {
      if (refusal instanceof WindowRes) return refusal;
      throw refusal;
    });
    return (result as WindowRes).state;
  }

  /** Asks Redis, in place of the library's own call that knows one limit for all keys. */
  async _upsert(
    key: string,
    points: number,
    _duration: number,
    _forceExpire: boolean,
    { hourlyLimit, burstLimit }: RateLimitSubject,
  ): Promise<ScriptResult> {
    if (this.#client.status !== 'ready') throw new Error('Redis connection is not ready');
    return this.#ask({ key, points, hourlyLimit, burstLimit });
  }

  _getRateLimiterRes(_key: string, _points: number, result: ScriptResult): WindowRes {
    return new WindowRes(result);
  }
}
