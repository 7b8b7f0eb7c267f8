import { pino } from 'pino';
import { afterAll } from 'vitest';
import { Permission } from '../../prisma/generated/client/enums.ts';
import { hashSecret, newSecret, secretHint } from '../../src/auth/key-secret.ts';
import { errorBody } from '../../rest/envelope.ts';
import { listen } from '../../src/http/listener/server.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { type Gateway, openGateway } from '../../src/gateway.ts';
import { newId } from '../../src/ids.ts';
import { newAddress } from './addresses.ts';
import { createScratchDatabase, type ScratchDatabase, withDatabaseName } from './scratch-database.ts';

/** All permissions that an API key can have. */
export const everyPermission = Object.values(Permission);

/** A response of the gateway with its parsed JSON body. */
export interface Answer {
  status: number;
  headers: Headers;
  // The parsed JSON body has the type `any`, because the tests read the fields of many different responses.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** The permissions, scope and rate limits of a new API key. */
export interface KeyOptions {
  permissions?: readonly Permission[];
  companyIds?: readonly string[];
  locationIds?: readonly string[];
  hourlyLimit?: number;
  burstLimit?: number;
  expiresAt?: Date;
  unrestricted?: boolean;
  environment?: 'development' | 'staging' | 'production';
}

/**
 * A test gateway with its own database. The test gateway uses the servers in DATABASE_URL and REDIS_URL when these
 * variables are set.
 */
export interface TestGateway extends Gateway {
  config: Config;
  /**
   * Sends a REST request to the gateway. When the request body is not a string, the function converts the body to JSON.
   */
  rest(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Sends a GraphQL operation to the gateway. */
  graph(query: string, options?: CallOptions & { variables?: Record<string, unknown> }): Promise<Answer>;
  /** Creates an API key and returns its secret. */
  newKey(options?: KeyOptions): Promise<string>;
  newCompany(): Promise<string>;
  newLocation(companyId: string, fields?: { capacity?: number | null; slug?: string }): Promise<string>;
  /** Creates a company with a location, and an API key that has every permission for the company. */
  newTenant(): Promise<{ companyId: string; locationId: string; key: string }>;
}

interface CallOptions {
  key?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

let sequence = 0;

/** Returns a slug that no other test uses. */
export const newSlug = () =>
  ['t', ...[process.pid, Date.now(), sequence++].map((number) => number.toString(36))].join('-');

/** Returns the request body for a whitelist entry whose plate no other test uses. */
export function newEntry(overrides: Record<string, unknown> = {}) {
  sequence += 1;
  return {
    referenceId: `unit-${sequence}`,
    plateType: 'DXB',
    plateCode: 'A',
    plateNumber: `${Date.now()}${sequence}`.slice(-12),
    vehicleType: 'sedan',
    note: 'test',
    ...overrides,
  };
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/**
 * Returns the environment variables of a gateway whose database is behind a connection pooler. The gateway runs
 * migrations over a direct connection to the database.
 */
function throughPooler(poolerUrl: string, databaseUrl: string): Record<string, string> {
  const { pathname } = new URL(databaseUrl);
  return {
    DATABASE_URL: withDatabaseName(poolerUrl, pathname.slice(1)),
    DIRECT_DATABASE_URL: databaseUrl,
    DATABASE_PREPARE: 'false',
  };
}

/** Options that choose the database of a test gateway. */
interface TestDatabase {
  /**
   * The URL of a connection pooler in front of the test's PostgreSQL server; by default, the value of the environment
   * variable POOLER_URL.
   */
  poolerUrl?: string | undefined;
  /** An existing database for the test gateway, such as the database of an earlier release. */
  database?: ScratchDatabase;
}

/**
 * Opens a gateway with a new database for one test file, and closes the gateway after the last test. A test file needs
 * its own gateway, and not the shared gateway, if it needs other environment variables, or if its tests read data of
 * several companies.
 * @param env environment variables of the gateway
 */
export async function openTestGateway(
  env: Record<string, string> = {},
  { poolerUrl, database }: TestDatabase = {},
): Promise<TestGateway> {
  const scratch = database ?? (await createScratchDatabase());
  const gateway = await startTestGateway(env, scratch, poolerUrl);
  afterAll(async () => {
    await gateway.close();
    await scratch.drop();
  });
  return gateway;
}

let shared: Promise<TestGateway> | undefined;

/**
 * Opens the gateway that a Vitest worker shares among all its test files. The gateway that the tests share has the
 * default configuration. A test on the shared gateway must read only the data of its own company. The shared gateway
 * runs until its Vitest worker ends. The database of the shared gateway is removed at the end of the test run.
 */
export const sharedTestGateway = (): Promise<TestGateway> =>
  (shared ??= createScratchDatabase().then((scratch) => startTestGateway({}, scratch)));

async function startTestGateway(
  env: Record<string, string>,
  scratch: ScratchDatabase,
  poolerUrl = process.env.POOLER_URL,
): Promise<TestGateway> {
  const config = loadConfig({
    DATABASE_URL: scratch.databaseUrl,
    DATA_DIR: scratch.dataDir,
    REDIS_URL: process.env.REDIS_URL,
    TRUST_PROXY: 'true',
    ...(poolerUrl && scratch.databaseUrl && throughPooler(poolerUrl, scratch.databaseUrl)),
    ...env,
  });
  const gateway = await openGateway(config, pino({ level: 'silent' }));
  const { app, database } = gateway;
  const { prisma } = database;

  const send = async (path: string, init: RequestInit, key: string | undefined, headers = {}) =>
    answerOf(
      await app.request(path, {
        ...init,
        // Each request of a test has a new client address, so that two tests never share the rate limit of an address.
        headers: { ...(key && { 'X-API-Key': key }), 'X-Forwarded-For': newAddress(), ...headers },
      }),
    );

  const test: TestGateway = {
    ...gateway,
    config,
    rest: (method, path, { key, body, headers } = {}) =>
      send(
        `/api${path}`,
        {
          method,
          ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        },
        key,
        { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ),
    graph: (query, { key, variables, headers } = {}) =>
      send('/graphql', { method: 'POST', body: JSON.stringify({ query, variables }) }, key, {
        'Content-Type': 'application/json',
        ...headers,
      }),
    async newKey({ permissions = everyPermission, companyIds = [], locationIds = [], ...options } = {}) {
      const environment = options.environment ?? config.environment;
      const secret = newSecret(environment);
      await prisma.apiKey.create({
        data: {
          hourlyLimit: 100_000,
          burstLimit: 100_000,
          ...options,
          id: newId(),
          name: 'Test',
          environment,
          permissions: [...permissions],
          companies: { connect: companyIds.map((id) => ({ id })) },
          locations: { connect: locationIds.map((id) => ({ id })) },
          secrets: {
            create: { id: newId(), hash: hashSecret(secret, config.keyPepper), hint: secretHint(secret) },
          },
        },
      });
      return secret;
    },
    async newCompany() {
      const { id } = await prisma.company.create({
        data: { id: newId(), name: 'Test Company', slug: newSlug(), address: 'Dubai' },
      });
      return id;
    },
    async newLocation(companyId, fields = {}) {
      const { id } = await prisma.location.create({
        data: { id: newId(), companyId, name: 'Test Location', slug: newSlug(), capacity: 10, ...fields },
      });
      return id;
    },
    async newTenant() {
      const companyId = await test.newCompany();
      const [locationId, key] = await Promise.all([
        test.newLocation(companyId),
        test.newKey({ companyIds: [companyId] }),
      ]);
      return { companyId, locationId, key };
    },
  };
  return test;
}

/**
 * Starts an HTTP server for a test gateway on a free port, and returns its URL. The HTTP server closes after the last
 * test of the file.
 */
export async function serve(gateway: TestGateway): Promise<string> {
  const { url, close } = await listen(gateway.app, {
    refuseKnown: gateway.refuseKnown,
    host: '127.0.0.1',
    port: 0,
    portVariable: 'PORT',
    refusalBody: errorBody,
    behindProxy: gateway.config.trustProxy,
  });
  afterAll(close);
  return url;
}
