import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { RateLimitSubject, RollingLimiter } from './limiter.ts';

/** The shortest time between two tries whether Redis answers again, in milliseconds. */
const probeEvery = 1000;
/** Charged by those tries: a budget of nobody's, so that the script is tried as well as the connection. */
const probeSubject: RateLimitSubject = { id: 'probe', hourlyLimit: 1000, burstLimit: 1000 };

/**
 * Asks Redis while it answers, and the windows of this process while it does not. Requests never find out
 * whether Redis is back, since each would wait for its timeout: a probe does, at most once a second.
 */
export function withFallback(
  redis: Redis,
  shared: RollingLimiter,
  local: RollingLimiter,
  log: Logger,
): RollingLimiter & { readonly backend: 'redis' | 'fallback'; close(): void } {
  let state: 'starting' | 'redis' | 'fallback' | 'closed' = redis.status === 'ready' ? 'redis' : 'starting';
  let lastProbe = -Infinity;
  let nextProbe: NodeJS.Timeout | undefined;

  function fallBack(cause: Error): void {
    if (state === 'fallback' || state === 'closed') return;
    state = 'fallback';
    log.warn({ cause: cause.message }, 'Redis does not answer: each process limits on its own');
    probeLater();
  }
  function probeLater(): void {
    clearTimeout(nextProbe);
    nextProbe = setTimeout(probe, Math.max(lastProbe + probeEvery - performance.now(), 0)).unref();
  }
  async function probe(): Promise<void> {
    lastProbe = performance.now();
    try {
      await shared.take(probeSubject, 1);
    } catch {
      if (state === 'fallback') probeLater();
      return;
    }
    if (state === 'redis' || state === 'closed') return;
    state = 'redis';
    clearTimeout(nextProbe);
    log.info('Redis answers: limits are shared by all processes');
  }
  redis.on('ready', () => void probe());
  redis.on('close', () => fallBack(new Error('Redis connection closed')));

  return {
    get backend() {
      return state === 'redis' ? 'redis' : 'fallback';
    },
    async take(subject, points) {
      if (state !== 'redis') return local.take(subject, points);
      try {
        return await shared.take(subject, points);
      } catch (error) {
        fallBack(error instanceof Error ? error : new Error(String(error)));
        return local.take(subject, points);
      }
    },
    close() {
      state = 'closed';
      clearTimeout(nextProbe);
    },
  };
}
