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

// Refusing a request must cost less than answering it, because a flood of requests could otherwise block the process. A
// process can know in advance that it must refuse a request, for example because the API key has exhausted its rate
// limit. The process then sends the response before it matches a route, and before it creates a `Request` or `Headers`
// object.

/**
 * The API of a request (REST or GraphQL), with the function that converts an error to a response in the format of this
 * API.
 */
export interface RefusingSurface {
  surface: Surface;
  render: (error: unknown, source: ErrorSource) => Answer;
}

/**
 * Refuses a request, without a database query, if the process already knows a reason to refuse the request. Returns
 * true if the process has refused the request.
 */
export type RefuseKnown = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/**
 * Creates the function that refuses requests without reading the database. The created function refuses a request if
 * the process already knows that the secret in the request is invalid, or that the client has used up its rate limit.
 * The response equals the response that the request guard of REST or GraphQL would send.
 *
 * @param options.surfaceOf a function that returns the API of a request (REST or GraphQL), with the function that
 *   renders errors for this API. `surfaceOf` returns undefined when the request needs no API key
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
   * Returns the API key that has the given secret, or the reason why the secret is invalid. If the process must first
   * look up the secret in the database, the function returns an empty object.
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
    // The Hono app handles every request that has the header `Origin` or lacks the header `Host`. While tracing is on,
    // the Hono app handles every request, because only the app creates tracing spans.
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
      const isHead = method === 'HEAD'; // like the app, this function sends no Content-Length in a response to a HEAD request
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
 * Returns all values of an HTTP header as a single text. When a client sends the same header several times, Node.js
 * usually joins the values of the header into one text. For a few headers, Node stores an array of the values.
 */
const single = (value: string | string[] | undefined) =>
  typeof value === 'object' ? value.join(', ') : value;
