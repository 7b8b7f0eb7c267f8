import type { IncomingMessage } from 'node:http';
import type { Context as HonoContext, MiddlewareHandler } from 'hono';
import type { AuthenticatedKey } from '../../auth/key.ts';
import { reauthenticate } from '../../auth/reauthenticate.ts';
import type { Context } from '../../context.ts';
import { rateLimitExceeded, ServiceError } from '../../errors/error-table.ts';
import type { ErrorSource } from '../../errors/masking.ts';
import { charge, keySubject } from './charge.ts';
import { clientAddress } from './client-address.ts';
import type { GuardDependencies } from './guard-dependencies.ts';
import { createKnownRefusals, type RefuseKnown, type RefusingSurface } from './known-refusals.ts';
import { createRequestRecord } from './request-record.ts';
import { inRequestSpan } from './request-span.ts';
import { requestHeader } from '../request-header.ts';
import { requestIdOf } from './request-id.ts';
import {
  type GatewayEnv,
  publicOperation,
  type RequestState,
  type Surface,
  unknownOperation,
} from '../request-state.ts';
import { createRequestsInProgress } from './requests-in-progress.ts';
import { type Answer, isEventStream, respond, surfaceHeaders } from '../responses/response.ts';
import { beginRequest } from '../../scheduling/yield.ts';
import { addressSubject, createUnauthenticatedClients } from './unauthenticated-clients.ts';

/** The guards that check all requests of one process. */
export interface Guards {
  /**
   * Creates the guard of REST or GraphQL. The guard authenticates, rate-limits and records every request, including
   * failed requests.
   *
   * @param render converts an error to a response in the form of REST or GraphQL
   */
  ofSurface(
    surface: Surface,
    render: (error: unknown, source: ErrorSource) => Answer,
  ): MiddlewareHandler<GatewayEnv>;
  /**
   * Creates the guard of the public pages. The guard requires no API key, and applies the rate limit of the client's
   * address (docs/contract.md#what-is-public).
   *
   * @param render converts an error to a response in the form that the clients of these pages expect
   */
  ofPublic(render: (error: unknown, source: ErrorSource) => Answer): MiddlewareHandler<GatewayEnv>;
  /**
   * Creates the check that the server runs before the app. If this process already knows that a request will be
   * refused, the check sends the same refusal as the guard, but with less work (known-refusals.ts).
   */
  refusingKnown(surfaceOf: (incoming: IncomingMessage) => RefusingSurface | undefined): RefuseKnown;
}

/** Creates the guards of one process. All guards share one count of unauthenticated clients. */
export function createGuards(dependencies: GuardDependencies): Guards {
  const { services, limiter, log, trustProxy } = dependencies;
  const { authenticator } = services;
  const unauthenticatedClients = createUnauthenticatedClients({ limiter, log });
  const requests = createRequestsInProgress();
  const recordRequest = createRequestRecord(dependencies, unauthenticatedClients);
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

  /**
   * Finds the API key of a request. If this process does not know the secret of the request, it first checks the rate
   * limit of the client's address.
   */
  function authenticate(
    secret: string | undefined,
    state: RequestState,
  ): AuthenticatedKey | Promise<AuthenticatedKey> {
    const known = authenticator.cachedKey(secret);
    if (known) return known;
    const lookUp = () => authenticator.authenticate(secret);
    if (authenticator.knownSecretHashes.has(secret)) return lookUp();
    return unauthenticatedClients.lookUp(state, secret, lookUp).catch((error: unknown) => {
      // The known secrets are read again. Another client behind the same address may be guessing keys, and this key may
      // be valid and issued by another process.
      if (error === rateLimitExceeded) authenticator.knownSecretHashes.readSoon();
      throw error;
    });
  }

  /**
   * Waits until a request of an API key may run. If the request is refused, its response still has the rate limit
   * headers of the key.
   */
  async function waitForSlot(
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
   * Takes a point from the rate limit of the client's address for a request without a valid API key. If the client did
   * not cause the failure, no point is taken, and the response has no rate limit headers (docs/contract.md#rate-limit).
   */
  async function chargeUnauthenticatedClient(error: unknown, state: RequestState): Promise<unknown> {
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
        const endAnswering = beginRequest();
        let endRequest: (() => void) | undefined;
        try {
          const secret = requestHeader(c, 'x-api-key');
          const authenticated = authenticate(secret, state);
          const key = authenticated instanceof Promise ? await authenticated : authenticated;
          state.key = key;
          const begun = requests.begin(key.id, c.env?.outgoing, () => state.heldBytes);
          endRequest = begun instanceof Promise ? await waitForSlot(begun, key, state) : begun;
          await charge(limiter, state, keySubject(key));
          const context: Context = {
            services,
            key,
            reauthenticate: () => reauthenticate(authenticator, secret, key),
            cutConnection: () => c.env?.outgoing?.destroy() !== undefined,
            holdBytes: (change) => void (state.heldBytes += change),
            requestId: state.requestId,
            log,
            // The object has the next two members from the start. REST sets them in a copy of the object, and V8 would
            // take microseconds to add members to a copy.
            takeWholeList: undefined,
            defersLargeValues: undefined,
          };
          c.set('context', context);
          await next();
          if (c.res !== state.response) {
            for (const [name, value] of Object.entries(surfaceHeaders(state, c.res.status))) {
              c.res.headers.set(name, value);
            }
          }
        } catch (error) {
          const refusal = await chargeUnauthenticatedClient(error, state);
          c.res = respond(render(refusal, state), state);
        } finally {
          endAnswering();
        }
        // A subscription does not count as a request in progress, because subscriptions have a limit of their own. All
        // other requests count until their connection closes.
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
