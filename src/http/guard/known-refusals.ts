import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthenticatedKey } from '../../auth/key.ts';
import { rateLimitExceeded } from '../../errors/error-table.ts';
import type { ErrorSource } from '../../errors/masking.ts';
import type { RateLimitDecision } from '../../rate-limit/types.ts';
import { activeTracer } from '../../observability/spans.ts';
import { keySubject } from './charge.ts';
import { addressOf } from './client-address.ts';
import type { GuardDependencies } from './guard-dependencies.ts';
import { requestIdOf } from './request-id.ts';
import type { RecordRequest } from './request-record.ts';
import { type RequestState, type Surface, unknownOperation } from '../request-state.ts';
import { type Answer, bodyOf, jsonHeaders, surfaceHeaders } from '../responses/response.ts';
import { addressSubject } from './unauthenticated-clients.ts';

// When a client sends a flood of requests, refusing a request must cost less than answering it. If the process already
// knows that it will refuse a request, it does so before it matches a route or creates a `Request` or `Headers` object.

/** The API to which a request belongs, and the function that converts an error to the form of errors in this API. */
export interface RefusingSurface {
  surface: Surface;
  render: (error: unknown, source: ErrorSource) => Answer;
}

/**
 * Answers a request if the request is certain to be refused, and returns true. For any other request, the function does
 * nothing and returns false.
 */
export type RefuseKnown = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/**
 * Creates the check for refusals that need no database. The check refuses a request if its secret is known to be
 * invalid, or if the rate limit of its API key or address is exhausted. The response equals the response of the guard.
 *
 * @param options.surfaceOf returns whether a request is for REST or GraphQL, with the form of its errors; undefined
 *   when the request needs no key
 */
export function createKnownRefusals(
  { services, limiter, log, trustProxy }: GuardDependencies,
  options: {
    record: RecordRequest;
    surfaceOf: (incoming: IncomingMessage) => RefusingSurface | undefined;
  },
): RefuseKnown {
  const { authenticator } = services;
  const { record, surfaceOf } = options;

  /**
   * Returns the API key of a secret, or the reason why the secret is invalid. The result is empty when only the
   * database can decide.
   */
  function findKnown(secret: string | undefined): { key?: AuthenticatedKey; fault?: unknown } {
    try {
      const key = authenticator.cachedKey(secret);
      return key ? { key } : {};
    } catch (fault) {
      return { fault };
    }
  }

  return (incoming, outgoing) => {
    const startedAt = performance.now();
    const { headers, url = '', method } = incoming;
    // The app handles all requests with an Origin header or without a Host header. It also handles all requests while
    // spans are recorded.
    if (headers.origin !== undefined || headers.host === undefined || activeTracer()) return false;
    const refusing = surfaceOf(incoming);
    if (!refusing) return false;
    const { key, fault } = findKnown(single(headers['x-api-key']));
    const refusedKey = key && limiter.refusal(keySubject(key));
    if (!refusedKey && !fault) return false;
    const address = addressOf(
      incoming.socket.remoteAddress,
      trustProxy && single(headers['x-forwarded-for']),
    );

    const refuse = (decision: RateLimitDecision) => {
      const state: RequestState = {
        requestId: requestIdOf(single(headers['x-request-id'])),
        surface: refusing.surface,
        address,
        log,
        operation: unknownOperation,
        acceptEncoding: undefined,
        heldBytes: 0,
        decision,
      };
      if (key) state.key = key;
      const answer = refusing.render(decision.allowed ? fault : rateLimitExceeded, state);
      const { status, errorCode } = answer;
      if (errorCode) state.errorCode = errorCode;
      const body = bodyOf(answer, state.requestId);
      const sent = Object.assign(surfaceHeaders(state, status), jsonHeaders);
      const isHead = method === 'HEAD'; // the response of the app to HEAD has no Content-Length either
      if (!isHead) sent['Content-Length'] = String(Buffer.byteLength(body));
      outgoing.writeHead(status, sent);
      outgoing.end(isHead ? undefined : body);
      const [path = ''] = url.split('?', 1);
      record(state, { path, status, elapsedMs: performance.now() - startedAt });
    };
    const subject = addressSubject(address);
    const refused = refusedKey ?? limiter.refusal(subject);
    if (refused) refuse(refused);
    else void limiter.consume(subject).then(refuse);
    return true;
  };
}

/**
 * Returns a header as a single text. When a client repeats a header, Node usually combines the values to one text, but
 * keeps an array for a few headers.
 */
const single = (value: string | string[] | undefined) =>
  typeof value === 'object' ? value.join(', ') : value;
