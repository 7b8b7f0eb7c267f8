import type { IncomingMessage } from 'node:http';
import type { Context as HonoContext, MiddlewareHandler } from 'hono';
import type { AuthenticatedKey } from '../auth/key.ts';
import { reauthenticate } from '../auth/reauthenticate.ts';
import { type OwnOfContext, ownOfContext, type Services } from '../context.ts';
import { rateLimitExceeded, ServiceError } from '../errors/error-table.ts';
import type { ErrorSource } from '../errors/masking.ts';
import { createTemplate } from '../template.ts';
import { charge, keySubject } from './charge.ts';
import { clientAddress } from './client-address.ts';
import type { GuardDependencies } from './guard-dependencies.ts';
import { createKnownRefusals, type RefuseKnown, type RefusingSurface } from './known-refusals.ts';
import { createRequestRecord } from './request-record.ts';
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
import { addressSubject, createStrangers } from './strangers.ts';

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
  /**
   * What a server asks before the app: it answers requests that are known to be refused, as the guard of their
   * surface would (known-refusals.ts).
   */
  refusingKnown(surfaceOf: (incoming: IncomingMessage) => RefusingSurface | undefined): RefuseKnown;
}

/** Creates the guards, which share what they know of strangers. */
export function createGuards(dependencies: GuardDependencies): Guards {
  const { services, limiter, log, trustProxy } = dependencies;
  const { authenticator } = services;
  const contextOf = createTemplate<Services, OwnOfContext>(services, ownOfContext);
  const strangers = createStrangers({ limiter, log });
  const requests = createRequestsInProgress();
  const recordRequest = createRequestRecord(dependencies, strangers);
  const record = (state: RequestState, { req, res }: HonoContext<GatewayEnv>, elapsedMs: number) =>
    recordRequest(state, { path: req.path, status: res.status, elapsedMs });

  const newState = (c: HonoContext<GatewayEnv>, surface: Surface): RequestState => ({
    requestId: requestIdOf(requestHeader(c, 'x-request-id')),
    surface,
    address: clientAddress(c, trustProxy),
    log,
    operation: unknownOperation,
    acceptEncoding: requestHeader(c, 'accept-encoding'),
    heldBytes: 0,
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
    return strangers.lookUp(state, secret, lookUp).catch((error: unknown) => {
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
    refusingKnown: (surfaceOf) => createKnownRefusals(dependencies, { record: recordRequest, surfaceOf }),
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
          const begun = requests.begin(key.id, c.env?.outgoing, () => state.heldBytes);
          endRequest = begun instanceof Promise ? await waitForTurn(begun, key, state) : begun;
          await charge(limiter, state, keySubject(key));
          const context = contextOf({
            key,
            reauthenticate: () => reauthenticate(authenticator, secret, key),
            cutConnection: () => c.env?.outgoing?.destroy() !== undefined,
            holdBytes: (change) => void (state.heldBytes += change),
            requestId: state.requestId,
            log,
          });
          c.set('context', context);
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

const isEventStream = ({ headers }: Response) =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
