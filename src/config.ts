import { z } from 'zod';
import { isEasyToGuess } from './auth/key-secret.ts';
import { databaseParameters, ignoredParameterWarnings } from './database/variables.ts';
import { listVariable } from './list-variable.ts';
import { hasDatabaseNumber, hasDecodableLogin, redisServers, sentinelAddress } from './redis/variables.ts';
import { nameServer } from './webhooks/variables.ts';

const environments = ['development', 'staging', 'production'] as const;
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * The pepper that the gateway uses in development when no pepper is configured. The pepper is the secret with which the
 * gateway computes the hashes of API key secrets. The development pepper may be public, because API keys in development
 * protect only the developer's own data.
 */
const developmentPepper = 'development-only-pepper-of-the-parking-gateway';

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`);

const connectionUrl = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );

const databaseUrl = connectionUrl('postgresql:', 'postgres:').refine(
  databaseParameters.isValid,
  databaseParameters.message,
);

const redisUrl = connectionUrl('redis:', 'rediss:')
  .refine(
    (value) => !URL.canParse(value) || !new URL(value).host.includes(','),
    'must have redis:// or rediss:// before each node of a cluster',
  )
  .refine(hasDecodableLogin, 'must have %25 in place of each % in the user name and the password')
  .refine(
    hasDatabaseNumber,
    'must have only the number of a database after the host, such as redis://redis.internal:6379/0',
  );

/**
 * Parses one Redis URL, or the URLs of several nodes of a Redis cluster, separated by commas. A URL can contain commas,
 * so a comma separates two URLs only if `redis:` or `rediss:` follows.
 */
const redisUrls = listVariable(redisUrl, /,(?=\s*rediss?:)/)
  .pipe(z.tuple([z.string()], z.string()))
  .refine(
    (urls) => new Set(urls.map((url) => url.startsWith('rediss:'))).size === 1,
    'must be all redis:// or all rediss://',
  );

const longSecret = z.string().min(32, 'must be 32 characters or more');

const isWebOrigin = (text: string) =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

/**
 * Validates one web origin from the list in CORS_ORIGINS. An origin with a path or a trailing slash is an error,
 * because browsers never send such an origin.
 */
const origin = z
  .string()
  .refine(
    isWebOrigin,
    'must be origins separated by commas, such as https://app.example,http://localhost:5173',
  );

/**
 * Matches a time interval: a start time with a time zone, and a duration in days, hours and minutes, such as
 * `2027-03-01T14:00Z/PT12H` (ISO 8601, "interval").
 */
const intervalForm =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))\/P(?:(\d{1,3})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?)?$/;

const existingDay = z.iso.date();

const minuteMs = 60_000;

/**
 * Parses the text of one time interval from a list of time intervals. The validation fails if the text does not have
 * the form `intervalForm`, if its start is a time that does not exist, or if its duration is zero.
 */
const interval = z.string().transform((text, context) => {
  const [, start = '', days = 0, hours = 0, minutes = 0] = intervalForm.exec(text) ?? [];
  const startMs = Date.parse(start);
  const durationMs = ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * minuteMs;
  // `Date.parse` accepts days that do not exist: it reads 30 February as 2 March.
  const isReal = existingDay.safeParse(start.slice(0, 'YYYY-MM-DD'.length)).success && !Number.isNaN(startMs);
  if (!isReal || durationMs === 0) {
    context.addIssue({
      code: 'custom',
      message: 'must be times with a duration separated by commas, such as 2027-03-01T14:00Z/PT12H',
    });
  }
  return { start: new Date(startMs), end: new Date(startMs + durationMs) };
});

/** Parses a list of time intervals, and sorts the intervals by their start. */
const intervals = listVariable(interval).transform((list) =>
  list.sort((a, b) => a.start.getTime() - b.start.getTime()),
);

const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');

/** The validation rules of all environment variables that the gateway reads. */
const variables = z.object({
  PORT: wholeNumber(0, 65_535).default(3000),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  HOST: z.string().default('127.0.0.1'),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: databaseUrl.optional(),
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  DATABASE_READ_URL: databaseUrl.optional(),
  DATABASE_PREPARE: flag.default(true),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10),
  DATABASE_GATE_POOL_SIZE: wholeNumber(1, 1000).default(3),
  DATABASE_START_WAIT_SECONDS: wholeNumber(0, 3600).default(20),
  REDIS_URL: redisUrls.optional(),
  REDIS_SENTINELS: listVariable(sentinelAddress).optional(),
  REDIS_SENTINEL_NAME: z.string().optional(),
  REDIS_SENTINEL_PASSWORD: z.string().optional(),
  APP_ENV: z.enum(environments, `must be one of ${environments.join(', ')}`).default('development'),
  OPERATOR_API_KEY: longSecret
    .regex(/^[\x21-\x7e]+$/, 'must consist of printable ASCII characters without spaces')
    .optional(),
  KEY_PEPPER: longSecret.optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  RATE_LIMIT_WINDOW_SECONDS: wholeNumber(1, 86_400).default(3600),
  RATE_LIMIT_BURST_WINDOW_SECONDS: wholeNumber(1, 86_400).default(60),
  TRUST_PROXY: flag.default(false),
  CORS_ORIGINS: listVariable(origin).default([]),
  BROWNOUTS: intervals.default([]),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  WEBHOOK_DNS_SERVERS: listVariable(nameServer).optional(),
  RETENTION_USAGE_DAYS: wholeNumber(1, 36_500).default(90),
  RETENTION_USAGE_TOTALS_DAYS: wholeNumber(1, 36_500).default(400),
  RETENTION_EVENTS_DAYS: wholeNumber(1, 36_500).default(365),
  RETENTION_DELIVERIES_DAYS: wholeNumber(4, 36_500).default(30),
  RETENTION_CHANGES_DAYS: wholeNumber(1, 36_500).optional(),
  /** RETENTION_CHANGES_DAYS was called RETENTION_REMOVALS_DAYS before version 1.6.0. */
  RETENTION_REMOVALS_DAYS: wholeNumber(1, 36_500).default(30),
});

/** The names of the environment variables. docs/configuration.md explains them. */
export const variableNames: readonly string[] = Object.keys(variables.shape);

const configRule = variables
  .superRefine((env, context) => {
    const refuse = (name: keyof typeof env, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    const mustBeSet = (name: keyof typeof env) => {
      if (env[name] === undefined) refuse(name, `is required when APP_ENV is ${env.APP_ENV}`);
    };
    if (env.APP_ENV !== 'development') {
      mustBeSet('DATABASE_URL');
      if (!env.REDIS_SENTINELS) mustBeSet('REDIS_URL');
      mustBeSet('KEY_PEPPER');
      if (env.WEBHOOK_ALLOW_PRIVATE) {
        refuse('WEBHOOK_ALLOW_PRIVATE', 'is for development only');
      }
    }
    if (env.DATABASE_READ_URL && !env.DATABASE_URL) {
      refuse('DATABASE_READ_URL', 'is the standby of DATABASE_URL, which is not set');
    }
    if (env.DIRECT_DATABASE_URL && !env.DATABASE_URL) {
      refuse(
        'DIRECT_DATABASE_URL',
        'is a direct connection to the database of DATABASE_URL, which is not set',
      );
    }
    if (env.METRICS_PORT === env.PORT && env.PORT !== 0) {
      refuse('METRICS_PORT', 'must differ from PORT');
    }
    if (env.REDIS_SENTINELS && !env.REDIS_SENTINEL_NAME) {
      refuse(
        'REDIS_SENTINEL_NAME',
        'is required with REDIS_SENTINELS: the name that the sentinels have for the primary',
      );
    }
    if (env.REDIS_SENTINELS && (env.REDIS_URL?.length ?? 0) > 1) {
      refuse(
        'REDIS_URL',
        'must be one URL with REDIS_SENTINELS; several URLs are the nodes of a Redis Cluster',
      );
    }
    if (env.RATE_LIMIT_BURST_WINDOW_SECONDS > env.RATE_LIMIT_WINDOW_SECONDS) {
      refuse('RATE_LIMIT_BURST_WINDOW_SECONDS', 'must not be longer than RATE_LIMIT_WINDOW_SECONDS');
    }
  })
  .transform((env) => ({
    port: env.PORT,
    metricsPort: env.METRICS_PORT,
    host: env.HOST,
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    directDatabaseUrl: env.DIRECT_DATABASE_URL,
    databaseReadUrl: env.DATABASE_READ_URL,
    databasePrepare: env.DATABASE_PREPARE,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    databaseGatePoolSize: env.DATABASE_GATE_POOL_SIZE,
    databaseStartWaitSeconds: env.DATABASE_START_WAIT_SECONDS,
    redis: redisServers(env),
    environment: env.APP_ENV,
    operatorApiKey: env.OPERATOR_API_KEY,
    keyPepper: env.KEY_PEPPER ?? developmentPepper,
    logLevel: env.LOG_LEVEL,
    rateLimitWindowSeconds: env.RATE_LIMIT_WINDOW_SECONDS,
    rateLimitBurstWindowSeconds: env.RATE_LIMIT_BURST_WINDOW_SECONDS,
    trustProxy: env.TRUST_PROXY,
    corsOrigins: env.CORS_ORIGINS,
    brownouts: env.BROWNOUTS,
    webhookAllowPrivate: env.WEBHOOK_ALLOW_PRIVATE,
    webhookDnsServers: env.WEBHOOK_DNS_SERVERS,
    retentionDays: {
      usage: env.RETENTION_USAGE_DAYS,
      usageTotals: env.RETENTION_USAGE_TOTALS_DAYS,
      events: env.RETENTION_EVENTS_DAYS,
      deliveries: env.RETENTION_DELIVERIES_DAYS,
      whitelistChanges: env.RETENTION_CHANGES_DAYS ?? env.RETENTION_REMOVALS_DAYS,
    },
  }));

/**
 * Whether a configured web origin is useless, because no browser can send it. The host of an origin that a browser
 * sends is always a host name or an IP address, never a wildcard.
 */
const isOriginOfNoBrowser = (origin: string) =>
  !/^([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/.test(new URL(origin).hostname);

/** Returns warnings about settings that are valid but probably wrong. Each warning is one sentence for the log. */
export function configWarnings({ operatorApiKey, corsOrigins, ...config }: Config): string[] {
  return [
    ...ignoredParameterWarnings('DATABASE_URL', config.databaseUrl),
    ...ignoredParameterWarnings('DIRECT_DATABASE_URL', config.directDatabaseUrl),
    ...ignoredParameterWarnings('DATABASE_READ_URL', config.databaseReadUrl),
    ...(operatorApiKey !== undefined && isEasyToGuess(operatorApiKey)
      ? ['OPERATOR_API_KEY is easy to guess; use a random value, such as the output of openssl rand -hex 32']
      : []),
    ...corsOrigins
      .filter(isOriginOfNoBrowser)
      .map((origin) => `CORS_ORIGINS has ${origin}, which matches no browser; name each origin in full`),
  ];
}

/** The settings of one process, read from the environment variables when the process starts. */
export type Config = z.output<typeof configRule>;

/**
 * The error that the gateway throws for an invalid environment variable. The message of a `ConfigError` names the
 * environment variable and its allowed values.
 */
export class ConfigError extends Error {}

/**
 * Reads the settings from environment variables. An environment variable with an empty value counts as not set.
 *
 * @throws {ConfigError} when an environment variable is invalid. The error message contains the names of all invalid
 *   variables
 */
export function loadConfig(env: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = configRule.safeParse(present);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('\n'),
    );
  }
  return parsed.data;
}
