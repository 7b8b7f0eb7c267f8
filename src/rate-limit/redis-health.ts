import type { Redis } from 'ioredis';
import type { Logger } from 'pino';

/** How often Redis is asked whether it answers, in milliseconds: a silent connection is noticed in this time. */
const probeIntervalMs = 1000;

/** Whether Redis answers the limiter. */
export interface RedisHealth {
  readonly answers: boolean;
  /** Notes that a request was not answered; those that follow do not ask until a probe is answered. */
  failed(cause: unknown): void;
  close(): void;
}

/**
 * Knows whether Redis answers. Requests never find out whether it is back, since each would wait for its
 * timeout: a probe does.
 *
 * @param probe asks Redis; rejects when there is no answer in time
 */
export function watchRedis(redis: Redis, probe: () => Promise<void>, log: Logger): RedisHealth {
  let state: 'starting' | 'answers' | 'silent' | 'closed' = redis.status === 'ready' ? 'answers' : 'starting';

  function failed(cause: unknown): void {
    if (state === 'silent' || state === 'closed') return;
    state = 'silent';
    const message = cause instanceof Error ? cause.message : String(cause);
    log.warn({ cause: message }, 'Redis does not answer: each process limits on its own');
  }
  async function ask(): Promise<void> {
    try {
      await probe();
    } catch (error) {
      failed(error);
      return;
    }
    if (state === 'answers' || state === 'closed') return;
    state = 'answers';
    log.info('Redis answers: limits are shared by all processes');
  }
  redis.on('ready', () => void ask());
  redis.on('close', () => failed(new Error('Redis connection closed')));
  const timer = setInterval(() => void ask(), probeIntervalMs).unref();

  return {
    get answers() {
      return state === 'answers';
    },
    failed,
    close() {
      state = 'closed';
      clearInterval(timer);
    },
  };
}
