import { Hono } from 'hono';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RateLimiter } from './limiter.ts';
import type { Usage } from './usage.ts';

/** What Prometheus reads of one process. */
export interface Metrics {
  /** Counts a request that was answered. */
  record(request: Pick<Usage, 'surface' | 'status' | 'durationMs'>): void;
  /** Serves `GET /metrics`. It asks for no key: it is for a port of its own. */
  app: Hono;
}

/** From a refusal that is answered from memory to the longest list, in seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Creates the metrics of one process: requests, who limits them, and what Node says of itself. */
export function createMetrics({ limiter }: { limiter: RateLimiter }): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const durations = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the arrival of a request to its answer, by surface (rest, graphql) and HTTP status.',
    labelNames: ['surface', 'status'],
    buckets: durationBuckets,
    registers: [register],
  });
  new Gauge({
    name: 'gateway_rate_limiter_fallback',
    help: '1 while Redis does not answer and this process limits on its own, otherwise 0.',
    registers: [register],
    collect() {
      this.set(limiter.backend === 'fallback' ? 1 : 0);
    },
  });

  const app = new Hono().get('/metrics', async (c) =>
    c.body(await register.metrics(), 200, { 'Content-Type': register.contentType }),
  );
  return {
    record({ surface, status, durationMs }) {
      durations.observe({ surface, status }, durationMs / 1000);
    },
    app,
  };
}
