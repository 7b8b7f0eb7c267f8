import { randomUUID } from 'node:crypto';
import type { Context as HonoContext, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { type Answer, respond, surfaceHeaders } from './answer.ts';
import type { AuthenticatedKey } from './auth.ts';
import type { Services } from './context.ts';
import type { ErrorSource } from './error-masking.ts';
import { rateLimitExceeded } from './errors.ts';
import type { RateLimiter, RateLimitSubject } from './limiter.ts';
import type { Metrics } from './metrics.ts';
import type { GatewayEnv, RequestState, Surface } from './request-state.ts';
import type { UsageRecorder } from './usage.ts';

/** The budget of requests without a valid key, for each client address: that of a key by default. */
const addressLimits = { hourlyLimit: 1000, burstLimit: 100 };

/** Whose budget a key draws on. */
export function keySubject(key: AuthenticatedKey): RateLimitSubject {
  return { id: `key:${key.id}`, hourlyLimit: key.hourlyLimit, burstLimit: key.burstLimit };
}

/**
 * Takes points from a budget and remembers the decision for the headers of the answer.
 *
 * @throws {ServiceError} `RATE_LIMIT_EXCEEDED`
 */
export async function charge(
  limiter: RateLimiter,
  state: RequestState,
  subject: RateLimitSubject,
  points = 1,
): Promise<void> {
  state.decision = await limiter.consume(subject, points);
  if (!state.decision.allowed) throw rateLimitExceeded;
}

/** A forwarded request names its client last: what stands before came from the client itself. */
function clientAddress(c: HonoContext<GatewayEnv>, trustProxy: boolean): string {
  const forwarded = trustProxy ? c.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  return (forwarded || c.env?.incoming?.socket.remoteAddress) ?? 'unknown';
}

/** What the guards of both surfaces share. */
export interface GuardDependencies {
  services: Services;
  limiter: RateLimiter;
  usage: UsageRecorder;
  metrics: Metrics;
  log: Logger;
  trustProxy: boolean;
}

/**
 * The guard of a surface: authenticates, limits, and records every request, whatever its end.
 *
 * @param options.render shows an error in the form of the surface
 */
export function createGuard(
  options: GuardDependencies & {
    surface: Surface;
    render: (error: unknown, source: ErrorSource) => Answer;
  },
): MiddlewareHandler<GatewayEnv> {
  const { surface, services, limiter, usage, metrics, log, trustProxy, render } = options;

  async function admit(secret: string | undefined, state: RequestState): Promise<AuthenticatedKey> {
    const authenticated = services.authenticator.authenticate(secret);
    const key = authenticated instanceof Promise ? await authenticated : authenticated;
    state.key = key;
    await charge(limiter, state, keySubject(key));
    return key;
  }

  async function refuse(error: unknown, state: RequestState): Promise<unknown> {
    if (state.decision) return error;
    // A request without a valid key: its address pays.
    return charge(limiter, state, { id: `address:${state.address}`, ...addressLimits }).then(
      () => error,
      (refusal: unknown) => refusal,
    );
  }

  return async function guard(c, next) {
    const startedAt = performance.now();
    const state: RequestState = {
      requestId: randomUUID(),
      surface,
      address: clientAddress(c, trustProxy),
      log,
      operation: 'unknown',
    };
    c.set('state', state);
    try {
      const key = await admit(c.req.header('x-api-key'), state);
      c.set('context', { ...services, key, requestId: state.requestId, log });
      await next();
      if (c.res !== state.response) {
        for (const [name, value] of Object.entries(surfaceHeaders(state))) c.res.headers.set(name, value);
      }
    } catch (error) {
      const refusal = await refuse(error, state);
      c.res = respond(render(refusal, state), state);
    }

    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    const record = {
      requestId: state.requestId,
      surface,
      operation: state.operation,
      status: c.res.status,
      durationMs,
      address: state.address,
    };
    log.info({ ...record, keyId: state.key?.id ?? null }, 'request');
    metrics.record(record);
    usage.record({ ...record, apiKeyId: state.key?.id ?? null, createdAt: new Date() });
  };
}
