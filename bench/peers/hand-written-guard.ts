import type { MiddlewareHandler } from 'hono';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { createHmac, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import pg from 'pg';
import { pino } from 'pino';

// This file contains the middleware of the hand-written server, with which the benchmark compares the gateway. For each
// request, the middleware checks the API key and the rate limit, and writes a log line and a usage record.

const { DATABASE_URL, REDIS_URL, KEY_PEPPER, LOG_LEVEL, DATABASE_POOL_SIZE } = process.env;
const hourWindowMs = Number(process.env.RATE_LIMIT_WINDOW_SECONDS) * 1000;
const burstWindowMs = Number(process.env.RATE_LIMIT_BURST_WINDOW_SECONDS) * 1000;

const log = pino({ level: LOG_LEVEL!, base: undefined }, pino.destination({ sync: false }));
const pool = new pg.Pool({ connectionString: DATABASE_URL!, max: Number(DATABASE_POOL_SIZE) });

/** Runs a named SQL statement and returns its rows. */
export const query = async <Row>(name: string, text: string, values: unknown[]) =>
  (await pool.query({ name, text, values })).rows as Row[];

/**
 * An error with an HTTP status. The hand-written server of the benchmark sends the status and the message of the error
 * to the client.
 */
export class Failure extends Error {
  constructor(
    readonly status: 400 | 401 | 404 | 409 | 429,
    readonly body: { code: string; message: string; details?: unknown },
  ) {
    super(body.message);
  }
}
const keyRequired = new Failure(401, { code: 'UNAUTHORIZED', message: 'API key is required' });
export const keyInvalid = new Failure(401, { code: 'UNAUTHORIZED', message: 'Invalid or missing API key' });
const tooMany = new Failure(429, {
  code: 'RATE_LIMIT_EXCEEDED',
  message: 'Too many requests, please try again later',
});

/** Creates a JSON response with the same headers as a response of the gateway. */
export const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
  });

// The following code checks API keys.

export interface Key {
  id: string;
  unrestricted: boolean;
  permissions: string[];
  hourlyLimit: number;
  burstLimit: number;
  endsAt: number;
  companyIds: string[];
  locationIds: string[];
}
const keys = new LRUCache<string, Key | 'unknown'>({ max: 10_000, ttl: 5_000 });
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function checksum(text: string): string {
  let digits = '';
  for (let rest = crc32(text); digits.length < 6; rest = Math.floor(rest / 62))
    digits = alphabet[rest % 62] + digits;
  return digits;
}

async function authenticate(secret: string | undefined): Promise<Key> {
  if (!secret) throw keyRequired;
  if (!/^pms_(?:live|test)_[0-9A-Za-z]{49}$/.test(secret)) throw keyInvalid;
  if (checksum(secret.slice(0, -6)) !== secret.slice(-6)) throw keyInvalid;
  const hash = createHmac('sha256', KEY_PEPPER!).update(secret).digest('base64url');
  let key = keys.get(hash);
  if (!key) {
    const [row] = await query<Key>(
      'key',
      `SELECT k.id, k.unrestricted, k.permissions::text[], k."hourlyLimit", k."burstLimit",
        coalesce(extract(epoch FROM least(s."expiresAt", k."expiresAt")) * 1000, 'infinity')::float8 AS "endsAt",
        ARRAY(SELECT "B" FROM "_ApiKeyToCompany" WHERE "A" = k.id) AS "companyIds",
        ARRAY(SELECT "B" FROM "_ApiKeyToLocation" WHERE "A" = k.id) AS "locationIds"
      FROM "ApiKeySecret" s JOIN "ApiKey" k ON k.id = s."apiKeyId"
      WHERE s.hash = $1 AND k."revokedAt" IS NULL AND k.environment = 'development'`,
      [hash],
    );
    key = row ?? 'unknown';
    keys.set(hash, key);
  }
  if (key === 'unknown' || key.endsAt <= Date.now()) throw keyInvalid;
  return key;
}

// Each API key has two rate limits: one for a long time window and one for a short time window. For each API key and
// each time window, Redis stores a list with the times of the requests. The middleware checks both rate limits of an
// API key in one round trip to Redis.

const redis = new Redis(REDIS_URL!, { maxRetriesPerRequest: 1, enableOfflineQueue: true }) as Redis & {
  take(
    ...args: (string | number)[]
  ): Promise<[wait: number, now: number, used: number, resetAt: number, burst: number, burstResetAt: number]>;
};
redis.defineCommand('take', {
  numberOfKeys: 2,
  lua: `
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local wait, used, oldest = 0, {}, {}
    for i, key in ipairs(KEYS) do
      local window, limit = tonumber(ARGV[i]), tonumber(ARGV[i + 2])
      oldest[i] = tonumber(redis.call('LINDEX', key, 0) or now)
      while oldest[i] <= now - window do
        redis.call('LPOP', key)
        oldest[i] = tonumber(redis.call('LINDEX', key, 0) or now)
      end
      used[i] = redis.call('LLEN', key)
      if used[i] >= limit then
        wait = math.max(wait, tonumber(redis.call('LINDEX', key, used[i] - limit)) + window - now)
      end
    end
    for i, key in ipairs(KEYS) do
      if wait == 0 then
        redis.call('RPUSH', key, now)
        redis.call('PEXPIRE', key, tonumber(ARGV[i]))
        used[i] = used[i] + 1
      end
    end
    return { wait, now, used[1], oldest[1] + tonumber(ARGV[1]), used[2], oldest[2] + tonumber(ARGV[2]) }`,
});

async function limit(headers: Headers, id: string, hourly: number, burst: number): Promise<void> {
  const [wait, now, used, resetAt, usedInBurst, burstResetAt] = await redis.take(
    `hand-written:{${id}}:hour`,
    `hand-written:{${id}}:burst`,
    hourWindowMs,
    burstWindowMs,
    hourly,
    burst,
  );
  const left = wait > 0 ? 0 : hourly - used;
  const seconds = (at: number) => Math.ceil((at - now) / 1000);
  headers.set('X-RateLimit-Limit', String(hourly));
  headers.set('X-RateLimit-Remaining', String(left));
  headers.set('X-RateLimit-Reset', String(Math.ceil(resetAt / 1000)));
  headers.set(
    'RateLimit-Policy',
    `"hour";q=${hourly};w=${hourWindowMs / 1000}, "burst";q=${burst};w=${burstWindowMs / 1000}`,
  );
  headers.set(
    'RateLimit',
    `"hour";r=${left};t=${seconds(resetAt)}, "burst";r=${burst - usedInBurst};t=${seconds(burstResetAt)}`,
  );
  if (wait === 0) return;
  headers.set('Retry-After', String(Math.ceil(wait / 1000)));
  throw tooMany;
}

// The hand-written server, with which the benchmark compares the gateway, collects usage records in memory, and writes
// them to the database once a second.

type Usage = [string | null, string, string, string, number, number, string, string];
let usage: Usage[] = [];
// Two concurrent writes of usage records could lock rows of the table ApiKey in different orders, and cause a deadlock.
// Each write of usage records therefore starts only after the previous write has ended.
let isWriting = false;
setInterval(() => {
  if (usage.length === 0 || isWriting) return;
  const records = usage;
  usage = [];
  isWriting = true;
  void query(
    'usage',
    `WITH inserted AS (
      INSERT INTO "UsageRecord" ("apiKeyId", "requestId", surface, operation, status, "durationMs", address,
        "createdAt")
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::float8[], $7::text[],
        $8::timestamptz[])
      RETURNING "apiKeyId", "createdAt")
    UPDATE "ApiKey" k SET "lastUsedAt" = used.at
    FROM (SELECT "apiKeyId", max("createdAt") AS at FROM inserted GROUP BY 1) AS used
    WHERE k.id = used."apiKeyId"`,
    records[0]!.map((_, column) => records.map((record) => record[column])),
  ).finally(() => (isWriting = false));
}, 1000).unref();

/** The values that the middleware stores for the route handlers: the API key and the request id. */
export interface Env {
  Variables: { key: Key; requestId: string };
}

/** Checks the API key and the rate limit of each request, and writes a log line and a usage record. */
export const guard: MiddlewareHandler<Env> = async (c, next) => {
  const startedAt = performance.now();
  const requestId = randomUUID();
  const address = c.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() ?? 'unknown';
  const headers = new Headers();
  let key: Key | undefined;
  try {
    key = await authenticate(c.req.header('x-api-key')).catch(async (error: unknown) => {
      await limit(headers, `address:${address}`, 1000, 100);
      throw error;
    });
    await limit(headers, `key:${key.id}`, key.hourlyLimit, key.burstLimit);
    c.set('key', key);
    c.set('requestId', requestId);
    await next();
    if (c.error) throw c.error;
  } catch (error) {
    if (!(error instanceof Failure)) log.error({ requestId, err: error }, 'unexpected error');
    const { status, body } =
      error instanceof Failure
        ? error
        : { status: 500 as const, body: { code: 'INTERNAL_ERROR', message: 'Internal server error' } };
    c.res = json({ success: false, error: { ...body, requestId } }, status);
  }
  c.res.headers.set('X-Request-Id', requestId);
  headers.forEach((value, name) => c.res.headers.set(name, value));
  const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
  const operation = `${c.req.method} ${c.req.path}`;
  const { status } = c.res;
  log.info(
    { requestId, surface: 'rest', operation, status, durationMs, address, keyId: key?.id ?? null },
    'request',
  );
  const now = new Date().toISOString();
  usage.push([key?.id ?? null, requestId, 'rest', operation, status, durationMs, address, now]);
};
