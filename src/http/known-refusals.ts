import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthenticatedKey } from '../auth/key.ts';
import { rateLimitExceeded } from '../errors/error-table.ts';
import type { ErrorSource } from '../errors/masking.ts';
import type { RateLimitDecision } from '../rate-limit/types.ts';
import { activeTracer } from '../telemetry/spans.ts';
import { keySubject } from './charge.ts';
import { addressOf } from './client-address.ts';
import type { GuardDependencies } from './guard-dependencies.ts';
import { requestIdOf } from './request-id.ts';
import type { RecordRequest } from './request-record.ts';
import { type RequestState, type Surface, unknownOperation } from './request-state.ts';
import { type Answer, bodyOf, jsonHeaders, surfaceHeaders } from './response.ts';
import { addressSubject } from './strangers.ts';

// A flood of requests that are refused must cost less than it would cost to answer them. What this process knows to
// be refused is answered before anything is made of the request: no route, no `Request`, no `Headers`.

/** How a surface shows an error. */
export interface RefusingSurface {
  surface: Surface;
  render: (error: unknown, source: ErrorSource) => Answer;
}

/** Answers a request that is known to be refused. Returns false for any other, which is left as it is. */
export type RefuseKnown = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/**
 * Creates what refuses requests as the guard does, where that takes no look-up in the database: a secret that opens
 * nothing, and a key or an address whose limit was reached and stays so for a while.
 *
 * @param options.surfaceOf the surface that a request is for; undefined when the guard would let it pass without a key
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

  /** The key behind a secret, or why it opens nothing; nothing when only a look-up can tell. */
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
    // Browsers of other origins, spans and malformed requests are the app's.
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
      sent['Content-Length'] = String(Buffer.byteLength(body));
      outgoing.writeHead(status, sent);
      outgoing.end(method === 'HEAD' ? undefined : body);
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

/** A header as one text: Node keeps those that come several times joined, but for a few of its own. */
const single = (value: string | string[] | undefined) =>
  typeof value === 'object' ? value.join(', ') : value;
