import type { Logger } from 'pino';
import type { Services } from '../../context.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { RateLimiter } from '../../rate-limit/types.ts';
import type { UsageRecorder } from '../../usage/recorder.ts';

/**
 * The services that the request guards of REST, GraphQL and the public pages need. A request guard is the middleware
 * that checks requests.
 */
export interface GuardDependencies {
  services: Services;
  limiter: RateLimiter;
  usage: UsageRecorder;
  metrics: Metrics;
  log: Logger;
  trustProxy: boolean;
}
