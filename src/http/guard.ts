import type { Context as HonoContext, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import type { AuthenticatedKey } from '../auth/key.ts';
import { reauthenticate } from '../auth/reauthenticate.ts';
import type { Services } from '../context.ts';
import { rateLimitExceeded, ServiceError } from '../errors/error-table.ts';
import type { ErrorSource } from '../errors/masking.ts';
import type { Metrics } from '../metrics.ts';
import type { RateLimiter } from '../rate-limit/types.ts';
import type { UsageRecorder } from '../usage/recorder.ts';
import { charge, keySubject } from './charge.ts';
import { clientAddress } from './client-address.ts';
import { inRequestSpan } from './request-span.ts';
import { requestHeader } from './request-header.ts';
import { requestIdOf } from './request-id.ts';
import {
  type GatewayEnv,
  publicOperation,
  type RequestState,
  type Surface,
  unknownOperation,
} from './request-state.ts';
import { createRequestsInProgress } from './requests-in-progress.ts';
import { type Answer, respond, surfaceHeaders } from './response.ts';
import { addressSubject, createStrangers, type Strangers } from './strangers.ts';

/** What the guards of all surfaces share. */
export interface GuardDependencies {
  services: Services;
  limiter: RateLimiter;
  usage: UsageRecorder;
  metrics: Metrics;
  log: Logger;
  trustProxy: boolean;
}

/** The guards of one process. */
export interface Guards {
  /**
   * The guard of a surface: authenticates, limits, and records every request, whatever its end.
   *
   * @param render shows an error in the form of the surface
   */
  ofSurface(
    surface: Surface,
    render: (error: unknown, source: ErrorSource) => Answer,
  ): MiddlewareHandler<GatewayEnv>;
  /**
   * The guard of what is public: needs no key, and charges the client's address (decisions, "what is public").
   *
   * @param render shows an error in the form of the surface that the clients of these addresses expect
   */
  ofPublic(render: (error: unknown, source: ErrorSource) => Answer): MiddlewareHandler<GatewayEnv>;
}

/** Creates the guards, which share what they know of strangers. */
export function createGuards(dependencies: GuardDependencies): Guards {
  const { services, limiter, log, trustProxy } = dependencies;
  const { authenticator } = services;
  const strangers = createStrangers({ limiter, log });
  const requests = createRequestsInProgress();
  const record = createRecord(dependencies, strangers);

  const newState = (c: HonoContext<GatewayEnv>, surface: Surface): RequestState => ({
    requestId: requestIdOf(requestHeader(c, 'x-request-id')),
    surface,
    address: clientAddress(c, trustProxy),
    log,
    operation: unknownOperation,
    acceptEncoding: requestHeader(c, 'accept-encoding'),
  });

  /** The key of a request. Only a secret that this process does not know takes the way past the address's budget. */
  function authenticate(
    secret: string | undefined,
    state: RequestState,
  ): AuthenticatedKey | Promise<AuthenticatedKey> {
    const known = authenticator.cachedKey(secret);
    if (known) return known;
    const lookUp = () => authenticator.authenticate(secret);
    if (authenticator.familiar.has(secret)) return lookUp();
    return strangers.lookUp(state, lookUp).catch((error: unknown) => {
      // It may be a valid key that another process issued, behind the same address as somebody who invents keys.
      if (error === rateLimitExceeded) authenticator.familiar.readSoon();
      throw error;
    });
  }

  /** Waits until a request of a key may run; a refusal still tells of the key's limits. */
  async function waitForTurn(
    begun: Promise<() => void>,
    key: AuthenticatedKey,
    state: RequestState,
  ): Promise<() => void> {
    try {
      return await begun;
    } catch (error) {
      state.decision = await limiter.read(keySubject(key));
      throw error;
    }
  }

  /**
   * No valid key: charges the client's address. A failure that is not the client's is charged to nobody, and then
   * there is no decision for the headers to tell of (decisions, "errors that are nobody's fault").
   */
  async function chargeStranger(error: unknown, state: RequestState): Promise<unknown> {
    const isRefusedKey = error instanceof ServiceError && error.code === 'UNAUTHORIZED';
    if (state.decision || !isRefusedKey) return error;
    return charge(limiter, state, addressSubject(state.address)).then(
      () => error,
      (refusal: unknown) => refusal,
    );
  }

  return {
    ofSurface: (surface, render) =>
      inRequestSpan(async function guard(c, next) {
        const startedAt = performance.now();
        const state = newState(c, surface);
        c.set('state', state);
        let endRequest: (() => void) | undefined;
        try {
          const secret = requestHeader(c, 'x-api-key');
          const authenticated = authenticate(secret, state);
          const key = authenticated instanceof Promise ? await authenticated : authenticated;
          state.key = key;
          const begun = requests.begin(key.id, c.env?.outgoing);
          endRequest = begun instanceof Promise ? await waitForTurn(begun, key, state) : begun;
          await charge(limiter, state, keySubject(key));
          c.set('context', {
            ...services,
            key,
            reauthenticate: () => reauthenticate(authenticator, secret, key),
            cutConnection: () => c.env?.outgoing?.destroy() !== undefined,
            requestId: state.requestId,
            log,
          });
          await next();
          if (c.res !== state.response) {
            for (const [name, value] of Object.entries(surfaceHeaders(state, c.res.status))) {
              c.res.headers.set(name, value);
            }
          }
        } catch (error) {
          const refusal = await chargeStranger(error, state);
          c.res = respond(render(refusal, state), state);
        }
        // The end of its connection ends any other request. Subscriptions have a bound of their own.
        if (!c.env?.outgoing || (c.res !== state.response && isEventStream(c.res))) endRequest?.();
        record(state, c, performance.now() - startedAt);
      }),
    ofPublic: (render) =>
      async function publicGuard(c, next) {
        const startedAt = performance.now();
        const state = newState(c, 'public');
        state.operation = publicOperation;
        c.set('state', state);
        try {
          await charge(limiter, state, addressSubject(state.address));
          await next();
          for (const [name, value] of Object.entries(surfaceHeaders(state, c.res.status))) {
            c.res.headers.set(name, value);
          }
        } catch (error) {
          c.res = respond(render(error, state), state);
        }
        record(state, c, performance.now() - startedAt);
      },
  };
}

/** How much of a path is logged that no operation answers, in characters. */
const maxLoggedPath = 200;

const isEventStream = ({ headers }: Response) =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;

/** Makes what leaves the traces of a request: its log line, its part in the metrics, and the usage of its key. */
function createRecord({ log, metrics, usage }: GuardDependencies, strangers: Strangers) {
  return (
    state: RequestState,
    { req, res: { status } }: HonoContext<GatewayEnv>,
    elapsedMs: number,
  ): void => {
    const { requestId, surface, operation, address, key, errorPath } = state;
    const errorCode = state.errorCode ?? null;
    const durationMs = Math.round(elapsedMs * 100) / 100;
    const record = { requestId, surface, operation, status, errorCode, durationMs, address };
    metrics.record({ ...record, hasKey: key !== undefined, decision: state.decision });
    if (key) usage.record({ ...record, apiKeyId: key.id, createdAt: new Date() });
    else if (errorCode) strangers.countRefusal(errorCode);
    // A client can be refused without end: its refusals are counted, and leave no line each.
    if (!key && errorCode === 'RATE_LIMIT_EXCEEDED') return;
    const path = operation === unknownOperation && req.path.slice(0, maxLoggedPath);
    log.info(
      { ...record, keyId: key?.id ?? null, ...(errorPath && { errorPath }), ...(path && { path }) },
      'request',
    );
  };
}
