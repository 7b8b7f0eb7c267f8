import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway-process.ts';
import { freePort } from '../../support/system-servers.ts';
import { compareParts, type Figures, figuresOfProcess, type Sample } from './figures.ts';
import { type Ledger, startLoad } from './load.ts';
import { limitedKeyBudget, type Tenant } from './tenant.ts';
import { startVisitors } from './visitors.ts';

export const operatorKey = 'operator-key-of-the-soak-test-0123456789';

/** How long a soak takes. */
export const soakMinutes = Number(process.env.SOAK_MINUTES ?? 20);
/** The pause of each client between two requests: together they send about 40 requests in a second. */
const pauseMs = 150;
const sampleIntervalMs = 5_000;

/** A gateway of a soak. */
export interface SoakedGateway {
  process: GatewayProcess;
  url: string;
  metricsUrl: string;
}

/** Starts a gateway that serves its metrics. */
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
 * Sends clients of every kind to gateways for the time of a soak, and compares what the gateways hold in the beginning
 * and at the end.
 *
 * @param connections counts those of all gateways to their servers
 * @returns what the clients know
 */
export async function soak(
  gateways: readonly SoakedGateway[],
  tenant: Tenant,
  connections: () => Promise<Pick<Figures, 'databaseConnections' | 'redisConnections'>>,
): Promise<Ledger> {
  const urls = gateways.map(({ url }) => url);
  const samples = gateways.map((): Sample[] => []);
  const load = startLoad(urls, tenant, { pauseMs });
  const visitors = startVisitors(urls, tenant, pauseMs);
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
    await Promise.all([load.stop(), visitors.stop()]);
  }

  const grown = samples.map((ofGateway) => compareParts(ofGateway, soakMinutes));
  const { acknowledged, unanswered, servedOfLimitedKey } = load.ledger;
  console.log({ acknowledged, unanswered, servedOfLimitedKey, visitors: visitors.count() });
  expect.soft(grown).toEqual(gateways.map(() => []));
  expect.soft(unanswered).toBe(0);
  // A process that did not hear from Redis in time gave the limit once more, on its own, and said so.
  const alone = gateways.filter(({ process: { output } }) => output().includes('Redis does not answer'));
  expect(servedOfLimitedKey).toBeGreaterThanOrEqual(limitedKeyBudget);
  expect(servedOfLimitedKey).toBeLessThanOrEqual(limitedKeyBudget * (1 + alone.length));
  return load.ledger;
}
