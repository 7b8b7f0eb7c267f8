import { z } from 'zod';

const environments = ['development', 'staging', 'production'] as const;
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Only for development, where keys open nothing but a developer's own data. */
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

const longSecret = z.string().min(32, 'must be 32 characters or more');

const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');

/** Every variable that the gateway reads; the README's table names the same ones. */
const variables = z.object({
  PORT: wholeNumber(0, 65_535).default(3000),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  HOST: z.string().default('127.0.0.1'),
  DATA_DIR: z.string().default('./data'),
  DATABASE_URL: connectionUrl('postgresql:', 'postgres:').optional(),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10),
  REDIS_URL: connectionUrl('redis:', 'rediss:').optional(),
  APP_ENV: z.enum(environments, `must be one of ${environments.join(', ')}`).default('development'),
  OPERATOR_API_KEY: longSecret
    .regex(/^[\x21-\x7e]+$/, 'must consist of printable ASCII characters without spaces')
    .optional(),
  KEY_PEPPER: longSecret.optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  RATE_LIMIT_WINDOW_SECONDS: wholeNumber(1, 86_400).default(3600),
  RATE_LIMIT_BURST_WINDOW_SECONDS: wholeNumber(1, 86_400).default(60),
  TRUST_PROXY: flag.default(false),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  RETENTION_USAGE_DAYS: wholeNumber(1, 36_500).default(90),
  RETENTION_EVENTS_DAYS: wholeNumber(1, 36_500).default(365),
  RETENTION_DELIVERIES_DAYS: wholeNumber(4, 36_500).default(30),
});

const configRule = variables
  .superRefine((env, context) => {
    const require = (name: keyof typeof env) => {
      if (env[name] === undefined) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `is required when APP_ENV is ${env.APP_ENV}`,
        });
      }
    };
    if (env.APP_ENV !== 'development') {
      require('DATABASE_URL');
      require('REDIS_URL');
      require('KEY_PEPPER');
      if (env.WEBHOOK_ALLOW_PRIVATE) {
        context.addIssue({
          code: 'custom',
          path: ['WEBHOOK_ALLOW_PRIVATE'],
          message: 'is for development only',
        });
      }
    }
    if (env.RATE_LIMIT_BURST_WINDOW_SECONDS > env.RATE_LIMIT_WINDOW_SECONDS) {
      context.addIssue({
        code: 'custom',
        path: ['RATE_LIMIT_BURST_WINDOW_SECONDS'],
        message: 'must not be longer than RATE_LIMIT_WINDOW_SECONDS',
      });
    }
  })
  .transform((env) => ({
    port: env.PORT,
    metricsPort: env.METRICS_PORT,
    host: env.HOST,
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    redisUrl: env.REDIS_URL,
    environment: env.APP_ENV,
    operatorApiKey: env.OPERATOR_API_KEY,
    keyPepper: env.KEY_PEPPER ?? developmentPepper,
    logLevel: env.LOG_LEVEL,
    rateLimitWindowSeconds: env.RATE_LIMIT_WINDOW_SECONDS,
    rateLimitBurstWindowSeconds: env.RATE_LIMIT_BURST_WINDOW_SECONDS,
    trustProxy: env.TRUST_PROXY,
    webhookAllowPrivate: env.WEBHOOK_ALLOW_PRIVATE,
    retentionDays: {
      usage: env.RETENTION_USAGE_DAYS,
      events: env.RETENTION_EVENTS_DAYS,
      deliveries: env.RETENTION_DELIVERIES_DAYS,
    },
  }));

/** The settings of one process, parsed once at start. */
export type Config = z.output<typeof configRule>;

/** A variable of the environment cannot be used; the message names it and says what would be right. */
export class ConfigError extends Error {}

/**
 * Reads the settings from environment variables. An empty variable counts as unset.
 *
 * @throws {ConfigError} naming every variable that is wrong.
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
