import { Hono } from 'hono';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { PoolState } from '../database/types.ts';
import type { Surface } from '../http/request-state.ts';
import type { RateLimitDecision, RateLimiter } from '../rate-limit/types.ts';
import type { Usage } from '../usage/recorder.ts';
import type { WebhookBacklog } from '../webhooks/backlog.ts';
import type { AttemptOutcome } from '../webhooks/attempt-outcome.ts';

/** The data about an answered request that the gateway needs for its metrics. */
interface CountedRequest extends Pick<Usage, 'operation' | 'status' | 'durationMs'> {
  surface: Surface;
  /** The code of the first error in the response; null when the response has no error. */
  errorCode: string | null;
  /** Whether the request had a valid API key. */
  hasKey: boolean;
  /**
   * The decision of the rate limiter about the request; `undefined` when the request ended before the rate limiter
   * decided.
   */
  decision?: RateLimitDecision | undefined;
}

/** The parts of the gateway from which the metrics read values when Prometheus scrapes the process. */
export interface MetricSources {
  limiter: Pick<RateLimiter, 'backend'>;
  /**
   * The names of the GraphQL and REST operations that have metrics of their own. The metrics count the requests for all
   * other operations under the name `other`.
   */
  operations?: readonly string[];
  /**
   * Returns the state of the database connection pools. For the embedded database, `pools` returns an empty list,
   * because this database has no connection pools.
   */
  pools?: () => readonly PoolState[];
  /**
   * Returns the number and the ages of the pending webhook deliveries of all processes. Returns `undefined` when the
   * database does not answer.
   */
  webhookBacklog?: () => Promise<WebhookBacklog | undefined>;
  build?: { version: string; database: string };
}

/** The Prometheus metrics of one process. */
export interface Metrics {
  /** Counts a request that has been answered. */
  record(request: CountedRequest): void;
  /**
   * Counts an error that occurs after a streamed response has begun: in an event stream, or in a streamed list.
   * `countError` does not count the request, because `record` already counted the request when the response began.
   */
  countError(error: { surface: Surface; operation: string; errorCode: string }): void;
  /** Counts an attempt to deliver a message to a webhook. */
  countAttempt(attempt: { outcome: AttemptOutcome; durationMs: number }): void;
  /** Changes the number of open subscriptions: by 1 when a subscription opens, and by -1 when a subscription ends. */
  countSubscription(change: 1 | -1): void;
  /**
   * Serves `GET /metrics` to clients without an API key. `GET /metrics` must use another port than the APIs, because
   * every client can reach the port of the APIs.
   */
  app: Hono;
}

/**
 * The upper limits of the histogram buckets for the durations of requests, in seconds. The smallest histogram bucket is
 * for refused requests, which are fast because a refusal needs no database query. The largest histogram bucket is for
 * requests that return the longest lists.
 */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * The upper limits of the histogram buckets for the durations of webhook attempts, in seconds. The smallest histogram
 * bucket is for delivery attempts to nearby receivers. The largest histogram bucket is for delivery attempts that reach
 * the timeout.
 */
const attemptBuckets = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/**
 * The value of the metric label `operation` for every operation that has no metrics of its own. Clients choose the
 * names of their GraphQL operations. If each of these names had its own metrics, a client could fill the memory of the
 * gateway process and of Prometheus with new names.
 */
const otherOperation = 'other';

/**
 * The Node.js metrics that the gateway removes from the metrics of the library prom-client. The removed metrics are
 * gauges with names that end in `_total`. Prometheus allows the ending `_total` only for counters.
 */
const misnamedMetrics = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * The metrics of Node.js, such as the duration of garbage collections. A process creates the Node.js metrics only once,
 * because prom-client observes garbage collections until the process ends.
 */
const nodeMetrics = new Registry();
collectDefaultMetrics({ register: nodeMetrics });
for (const name of misnamedMetrics) nodeMetrics.removeSingleMetric(name);

const backends = ['redis', 'memory', 'fallback'] as const;

/**
 * Creates the Prometheus metrics of one gateway process. The names and types of the metrics pass the check of `promtool
 * check metrics`.
 */
export function createMetrics(sources: MetricSources): Metrics {
  const register = new Registry();
  const registers = [register];

  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Number of answered requests, by surface (rest, graphql, public), operation and HTTP status.',
    labelNames: ['surface', 'operation', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the arrival of a request to the start of its response, by surface and operation.',
    labelNames: ['surface', 'operation'],
    buckets: requestBuckets,
    registers,
  });
  const errors = new Counter({
    name: 'gateway_errors_total',
    help: 'Errors in responses, by surface, operation and error code. Only the first error of a request counts. GraphQL errors count even when the HTTP status is 200.',
    labelNames: ['surface', 'operation', 'code'],
    registers,
  });
  const refusals = new Counter({
    name: 'gateway_refusals_total',
    help: 'Requests that were rejected before execution, by surface and reason.',
    labelNames: ['surface', 'reason'],
    registers,
  });
  const attempts = new Histogram({
    name: 'gateway_webhook_attempt_duration_seconds',
    help: 'Attempts to deliver a message to a webhook, by outcome: delivered, retry (another attempt follows) or failed (no further attempt follows).',
    labelNames: ['outcome'],
    buckets: attemptBuckets,
    registers,
  });
  const subscriptions = new Gauge({
    name: 'gateway_open_subscriptions',
    help: 'Number of open subscriptions in this process.',
    registers,
  });
  addSources(registers, sources);

  const known = new Set(sources.operations);
  const labelOf = (operation: string) => (known.has(operation) ? operation : otherOperation);
  const all = Registry.merge([nodeMetrics, register]);
  const app = new Hono().get('/metrics', async (c) =>
    c.body(await all.metrics(), 200, { 'Content-Type': register.contentType }),
  );
  return {
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
}

/**
 * Returns why the gateway refused a request: because of a missing or invalid API key, a missing permission, or an
 * exceeded limit. Returns `undefined` if the gateway did not refuse the request, and also for any other error, such as
 * `VALIDATION_ERROR`.
 */
function refusalReason({ errorCode, hasKey, decision }: CountedRequest): string | undefined {
  if (errorCode === 'UNAUTHORIZED') return 'no_valid_key';
  if (errorCode === 'FORBIDDEN') return 'no_permission';
  if (errorCode !== 'RATE_LIMIT_EXCEEDED') return undefined;
  if (!decision || decision.allowed) return 'too_much_at_once';
  return hasKey ? 'limit_of_key' : 'limit_of_address';
}

/** Adds the metrics whose values the gateway reads only when Prometheus scrapes the process. */
function addSources(
  registers: Registry[],
  { limiter, pools = () => [], webhookBacklog, build }: MetricSources,
): void {
  new Gauge({
    name: 'gateway_rate_limiter_backend',
    help: 'The value is 1 for the rate limiter backend in use, otherwise 0. While Redis is unreachable, the backend `fallback` is in use, with a separate budget in each process.',
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
  poolGauge('gateway_database_pool_size', 'Maximum number of connections of a pool.', ({ size }) => size);
  poolGauge(
    'gateway_database_pool_in_use',
    'Number of connections of a pool that are in use.',
    ({ inUse }) => inUse,
  );
  poolGauge(
    'gateway_database_pool_waiting',
    'Number of queries and transactions that wait for a connection.',
    ({ waiting }) => waiting,
  );
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
      'Number of pending webhook deliveries of all processes.',
      ({ pending }) => pending,
    );
    backlogGauge(
      'gateway_webhook_oldest_pending_age_seconds',
      'Age of the oldest pending webhook delivery. The value is 0 when no delivery is pending.',
      ({ oldestSeconds }) => oldestSeconds,
    );
    backlogGauge(
      'gateway_webhook_overdue_seconds',
      'Longest time that a due webhook delivery has waited for a worker. The value is 0 when no delivery is due.',
      ({ overdueSeconds }) => overdueSeconds,
    );
  }
  if (build) {
    new Gauge({
      name: 'gateway_build_info',
      help: 'Always 1, with the versions of the gateway and Node and the kind of database in the labels.',
      labelNames: ['version', 'node', 'database'],
      registers,
    }).set({ ...build, node: process.version }, 1);
  }
}
