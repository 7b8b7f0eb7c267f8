import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway-process.ts';
import { freePort } from '../../support/system-servers.ts';
import { compareParts, type Figures, figuresOfProcess, type Sample } from './figures.ts';
import { createDisconnects, importWhitelist } from './disconnects.ts';
import { hostileLimits, startHostileKey } from './hostile-key.ts';
import { type Ledger, startLoad } from './load.ts';
import { repeat } from './repeat.ts';
import { limitedKeyBudget, newAccess, type Tenant } from './tenant.ts';
import { startVisitors } from './visitors.ts';

export const operatorKey = 'operator-key-of-the-soak-test-0123456789';

/** The duration of a soak test (a long run under load, without faults), in minutes. */
export const soakMinutes = Number(process.env.SOAK_MINUTES ?? 20);
/**
 * The pause of each client between two requests, in milliseconds. With this pause, all clients of the soak test
 * together send about 40 requests per second.
 */
const pauseMs = 150;
/**
 * The pause between two imports of 10,000 rows, in milliseconds. The pause is longer than an import, because the other
 * clients must also send requests while no import runs.
 */
const importPauseMs = 5_000;
const sampleIntervalMs = 5_000;

/** A gateway process that runs during a soak test, with the address of its metrics. */
export interface SoakedGateway {
  process: GatewayProcess;
  url: string;
  metricsUrl: string;
}

/** Starts a gateway process that serves its metrics on a separate port. */
export async function startSoakedGateway(env: Record<string, string>): Promise<SoakedGateway> {
  const metricsPort = await freePort();
  const gateway = startGatewayProcess({
    OPERATOR_API_KEY: operatorKey,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    METRICS_PORT: String(metricsPort),
    ...env,
  });
  const url = await gateway.listening();
  return { process: gateway, url, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}

/**
 * Runs several kinds of clients against the gateways for the duration of a soak test. Some clients change data, and
 * some clients only read data. Some clients disconnect early, and some clients import whitelists. A hostile client
 * sends expensive requests. The function also checks that the memory and the connections of the gateways grow by at
 * most `allowedGrowth`.
 *
 * @param connections a function that counts the connections of all gateways to PostgreSQL and to Redis
 * @returns a record of all requests that changed data, with the outcome of each request
 */
export async function soak(
  gateways: readonly SoakedGateway[],
  tenant: Tenant,
  connections: () => Promise<Pick<Figures, 'databaseConnections' | 'redisConnections'>>,
): Promise<Ledger> {
  const urls = gateways.map(({ url }) => url);
  const samples = gateways.map((): Sample[] => []);
  const importing = await newAccess(urls[0]!, operatorKey, 'soak-imports');
  const hostile = await newAccess(urls[0]!, operatorKey, 'soak-hostile', hostileLimits);
  await importWhitelist(urls[0]!, hostile, 'first');
  const load = startLoad(urls, tenant, { pauseMs });
  const visitors = startVisitors(urls, tenant, pauseMs);
  const disconnects = repeat(createDisconnects(urls[0]!, importing), pauseMs);
  const imports = repeat((count) => importWhitelist(urls.at(-1)!, importing, `${count}`), importPauseMs);
  const hostileKey = startHostileKey(urls, hostile, pauseMs);
  const others = [visitors, disconnects, imports, hostileKey];
  const startedAt = performance.now();
  const elapsedSeconds = () => (performance.now() - startedAt) / 1000;
  try {
    while (elapsedSeconds() < soakMinutes * 60) {
      const shared = { seconds: elapsedSeconds(), ...(await connections()) };
      for (const [index, { process: gateway, metricsUrl }] of gateways.entries()) {
        samples[index]!.push({ ...shared, ...(await figuresOfProcess(gateway.child.pid!, metricsUrl)) });
      }
      await sleep(sampleIntervalMs);
    }
  } finally {
    await Promise.all([load, ...others].map((clients) => clients.stop()));
  }

  const grown = samples.map((ofGateway) => compareParts(ofGateway, soakMinutes));
  const { acknowledged, unanswered, servedOfLimitedKey } = load.ledger;
  console.log({ acknowledged, unanswered, servedOfLimitedKey, visitors: visitors.count() });
  console.log({
    disconnects: disconnects.count(),
    imports: imports.count(),
    hostileKey: hostileKey.counts(),
  });
  expect.soft(grown).toEqual(gateways.map(() => []));
  expect.soft(unanswered).toEqual([]);
  // If Redis responds too late on a busy machine, a gateway process counts rate limit points in its own memory and logs
  // "Redis does not answer". Each gateway process that counts in its own memory may allow `limitedKeyBudget` additional
  // requests.
  const alone = gateways.filter(({ process: { output } }) => output().includes('Redis does not answer'));
  expect(servedOfLimitedKey).toBeGreaterThanOrEqual(limitedKeyBudget);
  expect(servedOfLimitedKey).toBeLessThanOrEqual(limitedKeyBudget * (1 + alone.length));
  return load.ledger;
}
