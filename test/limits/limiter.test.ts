import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { parseList } from 'structured-headers';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { createRateLimiter, rateLimitHeaders } from '../../src/rate-limit/rate-limiter.ts';
import { RememberedRefusals } from '../../src/rate-limit/refusals.ts';
import type {
  RateLimiter,
  RateLimitSubject,
  RateLimitWindows,
  WindowState,
} from '../../src/rate-limit/types.ts';
import { MemoryRollingLimiter } from '../../src/rate-limit/memory.ts';
import { RedisRollingLimiter } from '../../src/rate-limit/redis.ts';
import { createRedisClient } from '../../src/redis/client.ts';
import { beBusyAfterNextCommand } from '../support/busy.ts';
import { freePort } from '../support/system-servers.ts';

const redisUrl = process.env.REDIS_URL;
const log = pino({ level: 'silent' });
const closing: (() => unknown)[] = [];
afterAll(() => closing.forEach((close) => close()));

const newSubject = (hourlyLimit: number, burstLimit: number): RateLimitSubject => ({
  kind: 'key',
  id: randomUUID(),
  hourlyLimit,
  burstLimit,
});

function newRedisClient(url: string, options = {}): Redis {
  const redis = createRedisClient({ urls: [url] }, log, options);
  closing.push(() => redis.disconnect());
  return redis;
}

/** Returns the name of the Redis key for the hourly limit of a subject (an API key or a client address). */
const keyOf = ({ kind, id }: RateLimitSubject) => `rate-limit:${kind}:${id}`;

const backends = {
  memory: async (windows: RateLimitWindows) => new MemoryRollingLimiter(windows),
  ...(redisUrl && {
    redis: async (windows: RateLimitWindows) => {
      const redis = newRedisClient(redisUrl);
      await once(redis, 'ready');
      return new RedisRollingLimiter(redis, windows);
    },
  }),
};

describe.each(Object.entries(backends))('a rate limiter with rolling windows in %s', (_, create) => {
  const hour = { windowSeconds: 3600, burstWindowSeconds: 60 };

  test('each request reduces the remaining points of the hourly limit and of the burst limit, and a refused request costs no points', async () => {
    const limiter = await create(hour);
    const subject = newSubject(3, 100);
    const taken = [];
    for (let request = 0; request < 5; request += 1) taken.push(await limiter.take(subject, 1));
    expect(taken.map(({ allowed, hour }) => [allowed, hour.used])).toEqual([
      [true, 1],
      [true, 2],
      [true, 3],
      [false, 3],
      [false, 3],
    ]);
    const endsAtMs = taken[0]!.nowMs + 3_600_000;
    expect(taken[4]!.hour.resetAtMs).toBe(endsAtMs);
    expect(taken[4]!.nowMs + taken[4]!.retryAfterMs).toBe(endsAtMs);
  });

  test('the burst limit refuses requests even when the hourly limit has points left', async () => {
    const limiter = await create(hour);
    const subject = newSubject(100, 2);
    const first = await limiter.take(subject, 2);
    const refused = await limiter.take(subject, 1);
    expect(refused).toMatchObject({ allowed: false, hour: { used: 2 } });
    expect(refused.nowMs + refused.retryAfterMs).toBe(first.nowMs + 60_000);
  });

  test('the rate limiter charges a request either all of its rate limit points or none', async () => {
    const limiter = await create(hour);
    const subject = newSubject(5, 5);
    expect(await limiter.take(subject, 3)).toMatchObject({ allowed: true, hour: { used: 3 } });
    expect(await limiter.take(subject, 3)).toMatchObject({ allowed: false, hour: { used: 3 } });
    expect(await limiter.take(subject, 2)).toMatchObject({ allowed: true, hour: { used: 5 } });
    expect(await limiter.take(subject, 6)).toMatchObject({ allowed: false, retryAfterMs: 3_600_000 });
  });

  test('the rate limiter refunds the point that a refused request has paid, and a later request that costs fewer points succeeds', async () => {
    const limiter = await create(hour);
    const subject = newSubject(100, 5);
    const earlier = await limiter.take(subject, 1);
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const { nowMs } = await limiter.take(subject, 1);
      const refused = await limiter.take(subject, 5, nowMs);
      expect(refused).toMatchObject({ allowed: false, hour: { used: 1 }, burst: { used: 1 } });
      expect(refused.nowMs + refused.retryAfterMs).toBe(earlier.nowMs + 60_000);
    }
    const { nowMs } = await limiter.take(subject, 1);
    const allowed = await limiter.take(subject, 4, nowMs);
    expect(allowed).toMatchObject({ allowed: true, hour: { used: 5 }, burst: { used: 5 } });
  });

  test('when the rate limiter refuses a request, it refunds only the point of this request, and refunds this point only once', async () => {
    const limiter = await create(hour);
    const subject = newSubject(5, 5);
    const own = await limiter.take(subject, 1);
    await expect.poll(async () => (await limiter.take(subject, 0)).nowMs).toBeGreaterThan(own.nowMs);
    const other = await limiter.take(subject, 1);
    const refused = await limiter.take(subject, 5, own.nowMs);
    expect(refused).toMatchObject({ allowed: false, hour: { used: 1, resetAtMs: other.nowMs + 3_600_000 } });
    expect(await limiter.take(subject, 5, own.nowMs)).toMatchObject({ allowed: false, hour: { used: 1 } });
  });

  test('when 300 requests arrive at the same time, the rate limiter allows exactly as many requests as the rate limit', async () => {
    const limiter = await create(hour);
    const subject = newSubject(1000, 100);
    const taken = await Promise.all(Array.from({ length: 300 }, () => limiter.take(subject, 1)));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(100);
  });

  test('the rate limiter decides on concurrent requests one by one, in the order of their arrival', async () => {
    const limiter = await create(hour);
    const [one, other] = [newSubject(2, 2), newSubject(10, 1)];
    const taken = await Promise.all([
      limiter.take(one, 1),
      limiter.take(other, 1),
      limiter.take(one, 2),
      limiter.take(other, 1),
      limiter.take(one, 1),
    ]);
    expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, false, false, true]);
  });

  test('a used rate limit point becomes available again at the end of its time window, and not earlier', async () => {
    const limiter = await create({ windowSeconds: 6, burstWindowSeconds: 6 });
    const subject = newSubject(2, 2);
    const allowedAt: number[] = [];
    /**
     * Takes one rate limit point. Checks that the limiter allows it if fewer than two points were taken in the last
     * 6 s, and refuses it otherwise.
     */
    async function take() {
      const state = await limiter.take(subject, 1);
      const used = allowedAt.filter((time) => time > state.nowMs - 6_000);
      expect(state.allowed).toBe(used.length < 2);
      if (state.allowed) allowedAt.push(state.nowMs);
      else expect(state.nowMs + state.retryAfterMs).toBe(used[0]! + 6_000);
      expect(state.hour.used).toBe(used.length + (state.allowed ? 1 : 0));
      return state;
    }
    await take();
    await sleep(2000);
    await take();
    await sleep((await take()).retryAfterMs + 5);
    await take();
    await take();
  });
});

test('the in-memory rate limiter makes the same decisions as a simple rate limiter that stores the times of all requests', async () => {
  const windows = { windowSeconds: 60, burstWindowSeconds: 10 };
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 20_000 }),
    points: fc.integer({ min: 1, max: 4 }),
    afterMs: fc.option(fc.integer({ min: 0, max: 15_000 }), { nil: undefined }),
  });
  let now = 0;
  // All generated sequences of requests share one rate limiter, because each new rate limiter first allocates memory
  // for 100,000 API keys.
  const limiter = new MemoryRollingLimiter(windows, () => now);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      now = 1_000_000;
      const subject = newSubject(8, 4);
      const passed: number[] = [];
      const within = (length: number) => passed.filter((time) => time > now - length * 1000).length;
      for (const { wait, points, afterMs } of steps) {
        now += wait;
        // The gateway charges one rate limit point before it knows the cost of the whole request.
        const first = afterMs === undefined ? undefined : await limiter.take(subject, 1);
        now += afterMs ?? 0;
        const room = (limit: number, length: number) => within(length) + points <= limit;
        const expected = room(8, 60) && room(4, 10);
        const state = await limiter.take(subject, points, first?.allowed ? first.nowMs : undefined);
        expect(state.allowed).toBe(expected);
        if (expected) passed.push(...Array.from({ length: points }, () => now));
        expect([state.hour.used, state.burst.used]).toEqual([within(60), within(10)]);
        const oldest = (length: number) =>
          passed.find((time) => time > now - length * 1000) ?? now - length * 1000;
        expect(state.hour.resetAtMs).toBe(oldest(60) + 60_000);
        expect(state.burst.resetAtMs).toBe(oldest(10) + 10_000);
        if (!expected) {
          const later = now + state.retryAfterMs;
          const roomLater = (limit: number, length: number) =>
            passed.filter((time) => time > later - length * 1000).length + points <= limit;
          expect(roomLater(8, 60) && roomLater(4, 10)).toBe(true);
        }
      }
    }),
  );
});

describe('rate limit headers of a response', () => {
  const limiter = createRateLimiter({ windowSeconds: 3600, burstWindowSeconds: 60, redis: undefined, log });

  test('the headers X-RateLimit-* describe the hourly limit, and the header RateLimit describes the hourly limit and the burst limit', async () => {
    const subject = newSubject(1000, 100);
    const headers = rateLimitHeaders(await limiter.consumeWhole(subject, 3, undefined));
    expect(headers).toEqual({
      'X-RateLimit-Limit': '1000',
      'X-RateLimit-Remaining': '997',
      'X-RateLimit-Reset': expect.stringMatching(/^\d{10}$/),
      'RateLimit-Policy': '"hour";q=1000;w=3600, "burst";q=100;w=60',
      RateLimit: '"hour";r=997;t=3600, "burst";r=97;t=60',
    });
  });

  test('the RateLimit headers are structured fields (RFC 9651) with whole numbers as parameters', async () => {
    const headers = rateLimitHeaders(await limiter.consume(newSubject(10, 5)));
    const parsed = (name: string) =>
      parseList(headers[name]!).map(([item, parameters]) => [item, Object.fromEntries(parameters)]);
    expect(parsed('RateLimit-Policy')).toEqual([
      ['hour', { q: 10, w: 3600 }],
      ['burst', { q: 5, w: 60 }],
    ]);
    expect(parsed('RateLimit')).toEqual([
      ['hour', { r: 9, t: 3600 }],
      ['burst', { r: 4, t: 60 }],
    ]);
  });

  test('Retry-After is the time until the hourly limit and the burst limit both have enough points', async () => {
    const subject = newSubject(1000, 1);
    await limiter.consume(subject);
    expect(rateLimitHeaders(await limiter.consume(subject))).toMatchObject({
      'X-RateLimit-Remaining': '0',
      RateLimit: '"hour";r=999;t=3600, "burst";r=0;t=60',
      'Retry-After': '60',
    });
    const spent = newSubject(1, 1);
    await limiter.consume(spent);
    expect(rateLimitHeaders(await limiter.consume(spent))).toMatchObject({ 'Retry-After': '3600' });
  });

  test('a client that reads the state of a rate limit gets the number of remaining points, and uses no points', async () => {
    const subject = newSubject(10, 5);
    expect((await limiter.read(subject)).hour).toMatchObject({ remaining: 10, resetSeconds: 0 });
    await limiter.consumeWhole(subject, 5, undefined);
    const read = await limiter.read(subject);
    expect(read).toMatchObject({ allowed: true, hour: { remaining: 5 }, burst: { remaining: 0 } });
    expect(await limiter.read(subject)).toMatchObject({ hour: { remaining: 5 } });
  });
});

test('the rate limiter remembers the used points of an API key while 100,000 client addresses send requests', async () => {
  const limiter = new MemoryRollingLimiter(hourOf());
  const subject = newSubject(1, 1);
  expect(await limiter.take(subject, 1)).toMatchObject({ allowed: true });
  for (let index = 0; index < 100_001; index += 1) {
    await limiter.take({ kind: 'address', id: String(index), hourlyLimit: 10, burstLimit: 10 }, 1);
  }
  expect(await limiter.take(subject, 1)).toMatchObject({ allowed: false });
  const [forgotten, remembered] = await Promise.all(
    ['0', '100000'].map((id) => limiter.take({ kind: 'address', id, hourlyLimit: 10, burstLimit: 10 }, 0)),
  );
  expect([forgotten!.hour.used, remembered!.hour.used]).toEqual([0, 1]);
});

describe('requests that cost several rate limit points', () => {
  afterEach(() => void vi.restoreAllMocks());

  const newLimiter = () =>
    createRateLimiter({ windowSeconds: 3600, burstWindowSeconds: 60, redis: undefined, log });

  /**
   * Charges the rate limit points of a request in two steps, as the gateway does. In the first step, the rate limiter
   * charges one point for the request. In the second step, the rate limiter charges all points of the request instead
   * of this one point.
   */
  async function charge(limiter: RateLimiter, subject: RateLimitSubject, points: number) {
    const first = await limiter.consume(subject);
    return first.allowed ? limiter.consumeWhole(subject, points, first.decidedAtMs) : first;
  }

  test.each([
    ['minute', newSubject(1000, 5), 59],
    ['hour', newSubject(5, 100), 3599],
  ])(
    'when the rate limit for one %s refuses a request, a repetition of the request succeeds after exactly the time in Retry-After',
    async (_, subject, retryAfter) => {
      const clock = vi.spyOn(Date, 'now').mockReturnValue(0);
      const limiter = newLimiter();
      await limiter.consume(subject);
      for (const secondsEarly of [retryAfter, 2, 1]) {
        clock.mockReturnValue((1 + retryAfter - secondsEarly) * 1000);
        const refused = await charge(limiter, subject, 5);
        expect(refused).toMatchObject({ allowed: false, retryAfter: secondsEarly });
        expect(subject.hourlyLimit - refused.hour.remaining).toBe(1);
      }
      clock.mockReturnValue((1 + retryAfter) * 1000);
      expect(await charge(limiter, subject, 5)).toMatchObject({ allowed: true, retryAfter: 0 });
    },
  );

  test('after the rate limiter has refunded the point of a refused request, the next request that costs one point succeeds', async () => {
    const limiter = newLimiter();
    const subject = newSubject(5, 5);
    await limiter.consumeWhole(subject, 4, undefined);
    const first = await limiter.consume(subject);
    expect(await limiter.consume(subject)).toMatchObject({ allowed: false });
    expect(await limiter.consumeWhole(subject, 5, first.decidedAtMs)).toMatchObject({ allowed: false });
    expect(await limiter.consume(subject)).toMatchObject({ allowed: true, hour: { remaining: 0 } });
  });
});

describe('refusals that the rate limiter remembers', () => {
  const refusedUntil = (endMs: number): WindowState => ({
    allowed: false,
    retryAfterMs: endMs,
    nowMs: 0,
    hour: { used: 1, resetAtMs: endMs },
    burst: { used: 1, resetAtMs: endMs },
  });
  afterEach(() => void vi.restoreAllMocks());

  test.each([
    ['at most 5 seconds', 3_600_000, 5_000],
    ['the time until the rate limit has enough points', 700, 700],
  ])('the rate limiter remembers a refusal, and repeats the refusal for %s', (_, endMs, repeatedMs) => {
    const refusals = new RememberedRefusals();
    const subject = newSubject(1, 1);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    refusals.remember(subject, refusedUntil(endMs), 1_000);
    clock.mockReturnValue(1_000 + repeatedMs - 1);
    expect(refusals.find(subject)).toMatchObject({ allowed: false, retryAfterMs: endMs - repeatedMs + 1 });
    clock.mockReturnValue(1_000 + repeatedMs);
    expect(refusals.find(subject)).toBeUndefined();
  });

  test('the rate limiter remembers the refusals of up to 10,000 API keys, and separately the refusals of client addresses', () => {
    const refusals = new RememberedRefusals();
    const now = performance.now();
    const subjects = Array.from({ length: 10_001 }, () => newSubject(1, 1));
    const address: RateLimitSubject = { ...newSubject(1, 1), kind: 'address' };
    for (const subject of [address, ...subjects])
      refusals.remember(subject, refusedUntil(60_000), now + 60_000);
    expect(subjects.filter((subject) => !refusals.find(subject))).toEqual([subjects[0]]);
    expect(refusals.find(address)).toBeDefined();
  });
});

describe.runIf(redisUrl)('rate limits in Redis', () => {
  test('two rate limiters that share one Redis server together allow exactly as many requests as the rate limit allows, and refused requests cost no points', async () => {
    const [first, second] = [await backends.redis!(hourOf()), await backends.redis!(hourOf())];
    const subject = newSubject(1000, 100);
    const begun = await Promise.all(Array.from({ length: 60 }, () => first.take(subject, 1)));
    const decisions = await Promise.all(
      begun.map(({ nowMs }, index) => (index % 2 ? first : second).take(subject, 3, nowMs)),
    );
    const allowed = decisions.filter((decision) => decision.allowed).length;
    expect(await second.take(subject, 0)).toMatchObject({
      hour: { used: allowed * 3 },
      burst: { used: allowed * 3 },
    });
    // A limit of 100 points allows 33 requests of three points each. If refused requests cost points, the limit of 100
    // points would allow fewer than 33 of these requests.
    expect(allowed).toBe(33);
  });

  test('two rate limiters share the points of an API key in Redis, and Redis needs less than 16 KB for 1,000 used points', async () => {
    const [first, second] = [await backends.redis!(hourOf()), await backends.redis!(hourOf())];
    const subject = newSubject(1000, 1000);
    const taken = await Promise.all(
      Array.from({ length: 1200 }, (_, index) => (index % 2 ? first : second).take(subject, 1)),
    );
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(1000);
    const bytes = await newRedisClientReady().then((redis) => redis.memory('USAGE', keyOf(subject)));
    expect(bytes).toBeLessThan(16_000);
  });

  test('when 100,000 used rate limit points leave the rate limit window at the same time, the rate limit script calls Redis at most 100 times', async () => {
    const { url } = await startRedis();
    const redis = newRedisClient(url);
    await once(redis, 'ready');
    const subject = newSubject(10_000_000, 10_000_000);
    const usedAtMs = Array<number>(10_000).fill(Date.now() - 2 * 3_600_000);
    for (let part = 0; part < 10; part += 1) await redis.rpush(keyOf(subject), ...usedAtMs);
    const limiter = new RedisRollingLimiter(redis, { windowSeconds: 3600, burstWindowSeconds: 60 });

    await redis.config('RESETSTAT');
    expect(await limiter.take(subject, 1)).toMatchObject({ allowed: true, hour: { used: 1 } });
    const counts = await redis.info('commandstats');
    expect(counts).toContain('cmdstat_ltrim');
    const calls = Array.from(counts.matchAll(/calls=(\d+)/g), ([, number]) => Number(number));
    expect(calls.reduce((sum, count) => sum + count, 0)).toBeLessThan(100);
  });

  test('the rate limit script in Redis makes the same decisions as a simple rate limiter that the test implements', async () => {
    const redis = await newRedisClientReady();
    const limiter = await backends.redis!(hourOf());
    const age = fc.integer({ min: 0, max: 4_000_000 });
    const history = fc.record({
      ages: fc.array(
        fc.oneof(
          age,
          age.map((ms) => ms % 90_000),
        ),
        { maxLength: 12 },
      ),
      points: fc.integer({ min: 1, max: 4 }),
      hasFirstPoint: fc.boolean(),
      hourlyLimit: fc.integer({ min: 0, max: 12 }),
      burstLimit: fc.integer({ min: 0, max: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(history, async ({ ages, points, hasFirstPoint, hourlyLimit, burstLimit }) => {
        const subject = newSubject(hourlyLimit, burstLimit);
        const [seconds, microseconds] = await redis.time();
        const now = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
        const times = ages.toSorted((a, b) => b - a).map((ms) => now - ms);
        const countedIn = (length: number, at: number) => times.filter((time) => time > at - length);
        // For the burst limit, the test also stores some points that are older than 60 s. The rate limit script must
        // remove these points.
        const inMinute = countedIn(90_000, now);
        if (times.length > 0) await redis.rpush(keyOf(subject), ...times);
        if (inMinute.length > 0) await redis.rpush(`{${keyOf(subject)}}:burst`, ...inMinute);
        const room = (at: number) =>
          countedIn(3_600_000, at).length + points <= hourlyLimit &&
          countedIn(60_000, at).length + points <= burstLimit;
        const first = hasFirstPoint ? await limiter.take(subject, 1) : undefined;
        const state = await limiter.take(subject, points, first?.allowed ? first.nowMs : undefined);
        expect(state.allowed).toBe(room(state.nowMs));
        for (const [window, length] of [
          [state.hour, 3_600_000],
          [state.burst, 60_000],
        ] as const) {
          const counted = countedIn(length, state.nowMs);
          expect(window.used).toBe(counted.length + (state.allowed ? points : 0));
          if (counted.length > 0) expect(window.resetAtMs).toBe(counted[0]! + length);
        }
        if (!state.allowed && points <= Math.min(hourlyLimit, burstLimit)) {
          const passesAt = state.nowMs + state.retryAfterMs;
          expect([room(passesAt - 1), room(passesAt)]).toEqual([false, true]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('after a refusal, the rate limiter refuses further requests of the API key without Redis while the rate limits of the key stay unchanged', async () => {
    const redis = await newRedisClientReady();
    const limiter = createRateLimiter({ ...hourOf(), redis, log });
    const subject = newSubject(1, 10);
    await limiter.consume(subject);
    const refused = await limiter.consume(subject);
    await newRedisClientReady().then((other) => other.del(keyOf(subject)));
    const repeated = await limiter.consume(subject);
    expect(repeated.allowed).toBe(false);
    expect(repeated.hour.resetAt).toEqual(refused.hour.resetAt);
    expect(refused.retryAfter - repeated.retryAfter).toBeOneOf([0, 1]);
    expect(await limiter.consume({ ...subject, hourlyLimit: 2 })).toMatchObject({ allowed: true });
  });

  test('while Redis is unreachable, no request fails, and each process counts the used rate limit points in its own memory', async () => {
    const server = await startRedis();
    const redis = newRedisClient(server.url, { commandTimeout: 150 });
    await once(redis, 'ready');
    const words: string[] = [];
    const written = pino({}, { write: (line) => void words.push(JSON.parse(line).msg) });
    const limiter = createRateLimiter({ ...hourOf(), redis, log: written });
    const subject = newSubject(1000, 5);
    expect(await limiter.consume(subject)).toMatchObject({ allowed: true, hour: { remaining: 999 } });
    expect(limiter.backend).toBe('redis');

    server.process.kill('SIGSTOP'); // Redis hangs: the connection stays open, but Redis sends nothing
    const decisions = await Promise.all(Array.from({ length: 8 }, () => limiter.consume(subject)));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
    expect(limiter.backend).toBe('fallback');
    const other = newSubject(1000, 1000);
    for (let request = 0; request < 20; request += 1) await limiter.consume(other);

    server.process.kill('SIGCONT'); // Redis works again, and the rate limiter detects the recovery without a request
    await expect.poll(() => limiter.backend).toBe('redis');
    expect(await redis.exists(keyOf(other))).toBe(0); // The rate limiter sent no commands to Redis while Redis hung

    server.process.kill('SIGKILL'); // The killed Redis server closes its connection to the rate limiter
    await expect.poll(() => limiter.backend).toBe('fallback');
    expect(await limiter.consume(newSubject(10, 10))).toMatchObject({
      allowed: true,
      hour: { remaining: 9 },
    });

    await startRedis(server.port);
    await expect.poll(() => limiter.backend).toBe('redis');
    expect(words).toEqual([
      'Redis does not answer; each process enforces rate limits separately',
      'Redis answers again; all processes share the rate limits',
      'Redis does not answer; each process enforces rate limits separately',
      'Redis answers again; all processes share the rate limits',
    ]);
    await limiter.close();
  });

  test('a busy process uses the shared rate limits in Redis, even when the process is slow to read a response from Redis', async () => {
    const redis = newRedisClient(redisUrl!, { commandTimeout: 150 });
    await once(redis, 'ready');
    const limiter = createRateLimiter({ ...hourOf(), redis, log });
    const subject = newSubject(1, 1);
    const other = await backends.redis!(hourOf());
    await other.take(subject, 1);
    beBusyAfterNextCommand(redis);
    expect(await limiter.consume(subject)).toMatchObject({ allowed: false });
    expect(limiter.backend).toBe('redis');
  });

  test('the gateway does not log the Redis password when Redis refuses the password', async () => {
    const server = await startRedis(undefined, '--requirepass', 'the-right-one');
    const lines: string[] = [];
    const written = pino({}, { write: (line) => void lines.push(line) });
    const redis = createRedisClient({ urls: [server.url.replace('//', '//:the-wrong-one@')] }, written);
    closing.push(() => redis.disconnect());
    await expect.poll(() => lines.join()).toContain('WRONGPASS');
    expect(lines.join()).not.toContain('the-wrong-one');
  });
});

function hourOf(): RateLimitWindows {
  return { windowSeconds: 3600, burstWindowSeconds: 60 };
}

async function newRedisClientReady(): Promise<Redis> {
  const redis = newRedisClient(redisUrl!);
  await once(redis, 'ready');
  return redis;
}

/** Starts a Redis server for this test only. The test may therefore stop or kill this server. */
async function startRedis(
  onPort?: number,
  ...settings: string[]
): Promise<{ url: string; port: number; process: ChildProcess }> {
  const port = onPort ?? (await freePort());
  const server = spawn('redis-server', [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    ...settings,
  ]);
  closing.push(() => server.kill('SIGKILL'));
  await new Promise<void>((resolve) => {
    server.stdout.on('data', (chunk) => String(chunk).includes('Ready to accept connections') && resolve());
  });
  return { url: `redis://127.0.0.1:${port}`, port, process: server };
}
