import pg from 'pg';
import { expect } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway-process.ts';
import { freePort } from '../../support/system-servers.ts';
import type { Load } from './load.ts';
import { limitedKeyBudget } from './tenant.ts';

/** The operator's API key, which all gateways of a fleet share. */
export const operatorKey = 'operator-key-of-the-fault-suite-0123456789';

/** Several gateways that share one PostgreSQL and one Redis. */
export interface Fleet {
  urls: string[];
  gateways: GatewayProcess[];
  /** All gateway processes that the fleet has started, including processes that ended. */
  started: GatewayProcess[];
  /** Starts the gateway with the given index in `gateways`. A gateway that starts again has the same port as before. */
  start(index: number): Promise<void>;
  /** Requests `/readyz` from each gateway, and returns the state of one component, such as the database. */
  readiness(part: 'database' | 'limiter' | 'notices'): Promise<string[]>;
  /** Kills all gateway processes with SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Starts gateways. The first gateway applies the migrations to the database.
 * @param env the environment variables that each started gateway process gets
 */
export async function startFleet(count: number, env: Record<string, string>): Promise<Fleet> {
  const ports: number[] = [];
  for (let index = 0; index < count; index += 1) ports.push(await freePort());
  const fleet: Fleet = {
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    gateways: [],
    started: [],
    async start(index) {
      const gateway = startGatewayProcess({
        OPERATOR_API_KEY: operatorKey,
        WEBHOOK_ALLOW_PRIVATE: 'true',
        PORT: String(ports[index]),
        ...env,
      });
      fleet.gateways[index] = gateway;
      fleet.started.push(gateway);
      await gateway.listening();
    },
    readiness: (part) =>
      Promise.all(
        fleet.urls.map(async (url) => {
          const answer = (await (await fetch(`${url}/readyz`)).json()) as Record<string, string>;
          return answer[part] ?? '';
        }),
      ),
    kill: async () => void (await Promise.all(fleet.gateways.map((gateway) => gateway.end('SIGKILL')))),
  };
  for (let index = 0; index < count; index += 1) await fleet.start(index);
  return fleet;
}

/**
 * The maximum number of requests with one rate-limited API key that all gateways together serve when Redis fails. Redis
 * and each gateway process have their own counter of requests, and each of these counters allows at most
 * `limitedKeyBudget` requests. When Redis loses its data, the number of counted requests in Redis starts again at 0. If
 * Redis loses its data, Redis may therefore allow `limitedKeyBudget` more requests.
 */
export const budgetWithFallback = (gateways: number) => limitedKeyBudget * (2 + gateways);

/**
 * Returns a function that checks whether a gateway process has counted rate limit points in its own memory. The check
 * begins with the call of `watchFallback`. The returned function reads the output of the gateway processes. When Redis
 * responds too late, for example on a busy machine, a gateway process counts points in its own memory and logs "Redis
 * does not answer".
 *
 * @param started an array with all gateway processes that the test has started. When the test starts another gateway
 *   process, the test adds the process to `started`. The array `started` also contains gateway processes that have
 *   ended, because an ended process may have served requests that Redis did not count
 */
export function watchFallback(started: readonly GatewayProcess[]): () => boolean {
  const printedBefore = new Map(started.map((gateway) => [gateway, gateway.output().length]));
  return () =>
    started.some((gateway) => gateway.output().includes('Redis does not answer', printedBefore.get(gateway)));
}

/**
 * Sends more requests with a tenant's API key than the low rate limit of this key allows. Checks that the gateways
 * serve exactly as many requests as the rate limit allows. If a gateway process has counted points in its own memory,
 * the gateways may serve up to `budgetWithFallback` requests.
 */
export async function expectExactLimit(
  fleet: Fleet,
  urls: readonly string[],
  limitedKey: string,
): Promise<void> {
  const fellBack = watchFallback(fleet.started);
  const answers = await Promise.all(
    Array.from({ length: limitedKeyBudget + 40 }, (_, index) =>
      fetch(`${urls[index % urls.length]}/api/health`, { headers: { 'X-API-Key': limitedKey } }),
    ),
  );
  const served = answers.filter(({ ok }) => ok).length;
  expect(served).toBeGreaterThanOrEqual(limitedKeyBudget);
  expect(served).toBeLessThanOrEqual(fellBack() ? budgetWithFallback(fleet.urls.length) : limitedKeyBudget);
}

/** Waits until the gateways have acknowledged `count` more requests. */
export async function progress({ ledger }: Load, count = 60): Promise<void> {
  const total = () => ledger.acknowledged.reduce((sum, acknowledged) => sum + acknowledged, 0);
  const target = total() + count;
  await expect.poll(total).toBeGreaterThanOrEqual(target);
}

/**
 * Opens a database connection with which a test checks the stored data. Some tests kill the database server while the
 * connection is open, so the function ignores the errors of the connection.
 */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
