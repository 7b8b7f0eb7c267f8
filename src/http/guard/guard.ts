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
import { createRequestsInProgress, type EndRequest } from './requests-in-progress.ts';
import { type Answer, isEventStream, notStored, respond, surfaceHeaders } from '../responses/response.ts';
import { beginRequest } from '../../scheduling/yield.ts';
import { addressSubject, createUnauthenticatedClients } from './unauthenticated-clients.ts';

/** The guards that check all requests to one gateway process. */
export interface Guards {
  /**
   * Creates the request guard of REST or of GraphQL. The guard authenticates, rate-limits and records every request,
   * including failed requests.
   *
   * @param render converts an error to a REST or GraphQL response
   */
  ofSurface(
    surface: Surface,
    render: (error: unknown, source: ErrorSource) => Answer,
  ): MiddlewareHandler<GatewayEnv>;
  /**
   * Creates the guard of the public pages. The guard of the public pages requires no API key, but applies the rate
   * limit of the client's address (docs/contract-keys.md#what-is-public).
   *
   * @param render converts an error to a response for the clients of the public pages
   */
  ofPublic(render: (error: unknown, source: ErrorSource) => Answer): MiddlewareHandler<GatewayEnv>;
  /**
   * Creates a check that the HTTP server runs for each request, before the app gets the request. If the process already
   * knows that it must refuse the request, the check itself sends the response (known-refusals.ts). Without this check,
   * the request guard would refuse the request in the same way, but with more processor time.
   */
  refusingKnown(surfaceOf: (incoming: IncomingMessage) => RefusingSurface | undefined): RefuseKnown;
  /**
   * Returns the data that the gateway has collected about a request. If no guard has handled the request, `stateOf`
   * creates the state of the request, because every response needs a request id. For example, requests of health probes
   * and requests for unknown paths do not pass through a guard.
   */
  stateOf(c: HonoContext<GatewayEnv>): RequestState;
  /** Logs how many requests without a valid API key the gateway has refused since the last log line about refusals. */
  logRefusals(): void;
}

/**
 * Creates the request guards of one gateway process. All guards of a gateway process share the same counters for
 * requests of unauthenticated clients.
 */
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
   * Finds the API key of a request. If the secret in the request is new to this process, `authenticate` first checks
   * the rate limit of the client's address.
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
      // This process may not yet know the secret of an API key that another process has issued. If clients with the
      // same IP address have used up the rate limit of the address, this process refuses a request although its secret
      // may be valid. After this process has refused a request with an unknown secret, it reads the hashes of the
      // newest secrets from the database within 5 s.
      if (error === rateLimitExceeded) authenticator.knownSecretHashes.readSoon();
      throw error;
    });
  }

  /**
   * Waits until the gateway may start the next request of an API key. If the gateway refuses the request, the response
   * still contains the rate limit headers of the API key.
   */
  async function waitForSlot(
    begun: Promise<EndRequest>,
    key: AuthenticatedKey,
    state: RequestState,
  ): Promise<EndRequest> {
    try {
      return await begun;
    } catch (error) {
      state.decision = await limiter.read(keySubject(key));
      throw error;
    }
  }

  /**
   * For a request without a valid API key, subtracts a point from the rate limit of the client's address. If the
   * gateway was not able to check the API key, the request costs no point, and its response has no rate limit headers
   * (docs/contract-keys.md#rate-limit).
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
    stateOf: (c) => (c.var.state as RequestState | undefined) ?? newState(c, 'public'),
    logRefusals: unauthenticatedClients.logRefusals,
    refusingKnown: (surfaceOf) => createKnownRefusals(dependencies, { record: recordRequest, surfaceOf }),
    ofSurface: (surface, render) =>
      inRequestSpan(async function guard(c, next) {
        const startedAt = performance.now();
        const state = newState(c, surface);
        c.set('state', state);
        const endAnswering = beginRequest();
        let endRequest: EndRequest | undefined;
        try {
          const secret = requestHeader(c, 'x-api-key');
          const authenticated = authenticate(secret, state);
          let key = authenticated instanceof Promise ? await authenticated : authenticated;
          state.key = key;
          const begun = requests.begin(key.id, c.env?.outgoing, () => state.heldBytes);
          if (begun instanceof Promise) {
            endRequest = await waitForSlot(begun, key, state);
            // The API key may have been changed or revoked while the request waited for a slot.
            key = await authenticator.authenticate(secret);
            state.key = key;
          } else {
            endRequest = begun;
          }
          await charge(limiter, state, keySubject(key));
          const context: Context = {
            services,
            key,
            reauthenticate: () => reauthenticate(authenticator, secret, key),
            cutConnection: () => c.env?.outgoing?.destroy() !== undefined,
            holdBytes: (change) => void (state.heldBytes += change),
            requestId: state.requestId,
            log,
            // The REST code copies the context object, and sets the properties `takeWholeList` and `defersLargeValues`
            // of the copy. After an object is copied, V8 needs microseconds to add a new property to the copy. The
            // original context object therefore already contains the properties `takeWholeList` and
            // `defersLargeValues`.
            takeWholeList: undefined,
            defersLargeValues: undefined,
          };
          c.set('context', context);
          await next();
          if (c.res !== state.response) {
            const { headers, status } = c.res;
            for (const [name, value] of Object.entries(surfaceHeaders(state, status)))
              headers.set(name, value);
            if (!headers.has('Cache-Control')) headers.set('Cache-Control', notStored);
          }
        } catch (error) {
          const refusal = await chargeUnauthenticatedClient(error, state);
          c.res = respond(render(refusal, state), state);
        } finally {
          endAnswering();
          // A subscription does not count as a request in progress, because subscriptions have a limit of their own. A
          // query, mutation or REST request counts as in progress until its response is sent or its connection closes.
          endRequest?.(c.res === state.response || !isEventStream(c.res));
        }
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
