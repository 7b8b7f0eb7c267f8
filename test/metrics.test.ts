import { expect, test } from 'vitest';
import { openTestGateway } from './harness.ts';

const gateway = await openTestGateway();
const withoutRedis = await openTestGateway({ REDIS_URL: 'redis://127.0.0.1:1' });

const metricsOf = async ({ metrics }: typeof gateway) => (await metrics.app.request('/metrics')).text();

test('metrics count the requests of each surface by their status', async () => {
  const key = await gateway.newKey();
  await gateway.rest('GET', '/health', { key });
  await gateway.rest('GET', '/health', { key });
  await gateway.rest('GET', '/health');
  await gateway.graph('{ health { status } }', { key });
  const metrics = await metricsOf(gateway);
  expect(metrics).toContain('gateway_request_duration_seconds_count{surface="rest",status="200"} 2\n');
  expect(metrics).toContain('gateway_request_duration_seconds_count{surface="rest",status="401"} 1\n');
  expect(metrics).toContain('gateway_request_duration_seconds_count{surface="graphql",status="200"} 1\n');
});

test('metrics say whether the limiter does without Redis', async () => {
  expect(await metricsOf(gateway)).toContain('gateway_rate_limiter_fallback 0\n');
  expect(await metricsOf(withoutRedis)).toContain('gateway_rate_limiter_fallback 1\n');
});
