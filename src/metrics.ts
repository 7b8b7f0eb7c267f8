import { Hono } from 'hono';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PoolState } from './database/types.ts';
import type { Surface } from './http/request-state.ts';
import type { RateLimitDecision, RateLimiter } from './rate-limit/types.ts';
import type { Usage } from './usage/recorder.ts';
import type { WebhookBacklog } from './webhooks/backlog.ts';
import type { AttemptOutcome } from './webhooks/settle.ts';

/** A request that was answered, as the metrics count it. */
interface CountedRequest extends Pick<Usage, 'operation' | 'status' | 'durationMs'> {
  surface: Surface;
  /** The code of the first error that the client was told; null when there was none. */
  errorCode: string | null;
  /** Whether the request had a valid key. */
  hasKey: boolean;
  /** What the limiter said; undefined when it was not asked. */
  decision?: RateLimitDecision | undefined;
}

/** What the metrics are read from. */
export interface MetricSources {
  limiter: Pick<RateLimiter, 'backend'>;
  /** The names of operations that have series of their own; all others are `other`. */
  operations?: readonly string[];
  /** The pools of the database; an embedded one has none. */
  pools?: () => readonly PoolState[];
  /** The same for all processes; undefined when the database does not answer. */
  webhookBacklog?: () => Promise<WebhookBacklog | undefined>;
  build?: { version: string; database: string };
}

/** What Prometheus reads of one process. */
export interface Metrics {
  /** Counts a request that was answered. */
  record(request: CountedRequest): void;
  /** Counts an error that a client was told after its request was counted: in a stream. */
  countError(error: { surface: Surface; operation: string; errorCode: string }): void;
  /** Counts an attempt to deliver a message to a webhook. */
  countAttempt(attempt: { outcome: AttemptOutcome; durationMs: number }): void;
  /** Counts a subscription that was opened (1) or that ended (-1). */
  countSubscription(change: 1 | -1): void;
  /** Serves `GET /metrics`. It asks for no key: it is for a port of its own. */
  app: Hono;
}

/** From a refusal that is answered from memory to the longest list, in seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** From a receiver nearby to the end of an attempt, in seconds. */
const attemptBuckets = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/**
 * What every operation is called that is not known by its name. A client words the operations of the graph: without
 * a bound it could fill the memory of this process and of Prometheus.
 */
const otherOperation = 'other';

/** Node's gauges whose names end like those of counters, which Prometheus' rules for names refuse. */
const misnamedMetrics = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const backends = ['redis', 'memory', 'fallback'] as const;

/** Creates the metrics of one process. Names and types are as `promtool check metrics` wants them. */
export function createMetrics(sources: MetricSources): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  for (const name of misnamedMetrics) register.removeSingleMetric(name);
  const registers = [register];

  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Answered requests, by surface (rest, graphql, public), operation and HTTP status.',
    labelNames: ['surface', 'operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the arrival of a request to the begin of its answer, by surface and operation.',
    labelNames: ['surface', 'operation'],
    buckets: requestBuckets,
    registers,
  });
  const errors = new Counter({
    name: 'gateway_errors_total',
    help: 'Errors that clients were told, by surface, operation and error code; of a request the first. An error of the graph counts although its HTTP status is 200.',
    labelNames: ['surface', 'operation', 'code'],
    registers,
  });
  const refusals = new Counter({
    name: 'gateway_refusals_total',
    help: 'Requests that were not looked into, by surface and reason.',
    labelNames: ['surface', 'reason'],
    registers,
  });
  const attempts = new Histogram({
    name: 'gateway_webhook_attempt_duration_seconds',
    help: 'Attempts to deliver a message to a webhook, by what became of the delivery: delivered, retry (tried again later) or failed (given up).',
    labelNames: ['outcome'],
    buckets: attemptBuckets,
    registers,
  });
  const subscriptions = new Gauge({
    name: 'gateway_open_subscriptions',
    help: 'Subscriptions that are open at this process.',
    registers,
  });
  addSources(registers, sources);

  const known = new Set(sources.operations);
  const labelOf = (operation: string) => (known.has(operation) ? operation : otherOperation);
  const app = new Hono().get('/metrics', async (c) =>
    c.body(await register.metrics(), 200, { 'Content-Type': register.contentType }),
  );
  const metrics: Metrics = {
    record(request) {
      const { surface, status, errorCode, durationMs } = request;
      const operation = labelOf(request.operation);
      requests.inc({ surface, operation, status });
      durations.observe({ surface, operation }, durationMs / 1000);
      if (errorCode) errors.inc({ surface, operation, code: errorCode });
      const reason = refusalReason(request);
      if (reason) refusals.inc({ surface, reason });
    },
    countError({ surface, operation, errorCode }) {
      errors.inc({ surface, operation: labelOf(operation), code: errorCode });
    },
    countAttempt({ outcome, durationMs }) {
      attempts.observe({ outcome }, durationMs / 1000);
    },
    countSubscription(change) {
      subscriptions.inc(change);
    },
    app,
  };
  return metrics;
}

/** Why a request was not looked into; undefined when it was. */
function refusalReason({ errorCode, hasKey, decision }: CountedRequest): string | undefined {
  if (errorCode === 'UNAUTHORIZED') return 'no_valid_key';
  if (errorCode === 'FORBIDDEN') return 'no_permission';
  if (errorCode !== 'RATE_LIMIT_EXCEEDED') return undefined;
  if (!decision || decision.allowed) return 'too_much_at_once';
  return hasKey ? 'limit_of_key' : 'limit_of_address';
}

/** Adds what is asked for at each scrape. */
function addSources(
  registers: Registry[],
  { limiter, pools = () => [], webhookBacklog, build }: MetricSources,
): void {
  new Gauge({
    name: 'gateway_rate_limiter_backend',
    help: '1 for what limits requests now, otherwise 0. It is fallback, a budget of this process, while Redis does not answer.',
    labelNames: ['backend'],
    registers,
    collect() {
      for (const backend of backends) this.set({ backend }, limiter.backend === backend ? 1 : 0);
    },
  });
  const poolGauge = (name: string, help: string, value: (state: PoolState) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const state of pools()) this.set({ pool: state.pool }, value(state));
      },
    });
  poolGauge('gateway_database_pool_size', 'Most connections that a pool opens.', ({ size }) => size);
  poolGauge('gateway_database_pool_in_use', 'Connections of a pool that are in use.', ({ inUse }) => inUse);
  poolGauge('gateway_database_pool_waiting', 'Work that waits for a connection.', ({ waiting }) => waiting);
  if (webhookBacklog) {
    const backlogGauge = (name: string, help: string, value: (backlog: WebhookBacklog) => number) =>
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          const backlog = await webhookBacklog();
          this.set(backlog ? value(backlog) : NaN);
        },
      });
    backlogGauge(
      'gateway_webhook_backlog',
      'Deliveries of webhooks that are not done, those of all processes.',
      ({ pending }) => pending,
    );
    backlogGauge(
      'gateway_webhook_oldest_pending_age_seconds',
      'Age of the oldest delivery that is not done; 0 when there is none.',
      ({ oldestSeconds }) => oldestSeconds,
    );
    backlogGauge(
      'gateway_webhook_overdue_seconds',
      'How long a delivery that is due has waited for a worker at most; 0 when none is due.',
      ({ overdueSeconds }) => overdueSeconds,
    );
  }
  if (build) {
    new Gauge({
      name: 'gateway_build_info',
      help: 'Always 1; its labels say which version runs on which Node and database.',
      labelNames: ['version', 'node', 'database'],
      registers,
    }).set({ ...build, node: process.version }, 1);
  }
}
