import type { ErrorCode } from '../../errors/error-table.ts';
import { compressed, contentCoding, isLarge } from './compression.ts';
import { rateLimitHeaders } from '../../rate-limit/rate-limiter.ts';
import type { RequestState } from '../request-state.ts';

/** The status, headers and body from which the gateway creates a `Response` object. */
export interface Answer {
  status: number;
  /**
   * The body of the response, or null if there is no body, for example for status 304. For an error response, `body` is
   * a function that creates the text of the body from the request id. The same `Answer` object can therefore be the
   * response to several refused requests with different request ids.
   */
  body: string | ReadableStream<Uint8Array> | ((requestId: string) => string) | null;
  headers?: Record<string, string>;
  /** The error code of the response, which the log, the metrics and the usage record contain. */
  errorCode?: ErrorCode | undefined;
}

/**
 * The value of `Cache-Control` for responses without an entity tag. A shared cache does not know that a response
 * depends on the API key: RFC 9111 (section 3.5) restricts shared caches only if the request has the header
 * `Authorization`.
 */
export const notStored = 'no-store';

/** The headers of all responses that have a JSON body. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': notStored };

/**
 * The value of `WWW-Authenticate` in a response with status 401. The value of `WWW-Authenticate` must name an
 * authentication scheme (RFC 9110, section 15.5.2). No standard defines an authentication scheme for the header
 * `X-API-Key`, so the gateway uses its own scheme `ApiKey`.
 */
const challenge = 'ApiKey realm="parking-gateway"';

/**
 * The value of `Retry-After`, in seconds, when an overloaded gateway refuses a request. For example, the gateway
 * refuses a change of a location when too many changes of this location are already waiting. An overloaded gateway can
 * refuse a request even if the API key is within its rate limits.
 */
const busyRetryAfterSeconds = 1;

/**
 * Returns the headers that all REST or GraphQL responses have.
 *
 * @param status the HTTP status of the response. A response with status 429 always has the header `Retry-After`, and
 *   its header `X-RateLimit-Remaining` is 0 (docs/contract-keys.md#rate-limit)
 */
export function surfaceHeaders(
  { requestId, decision }: RequestState,
  status: number,
): Record<string, string> {
  const headers = decision ? rateLimitHeaders(decision) : {};
  headers['X-Request-Id'] = requestId;
  if (status === 401) headers['WWW-Authenticate'] = challenge;
  if (status === 429) {
    headers['Retry-After'] ??= String(busyRetryAfterSeconds);
    if (decision) headers['X-RateLimit-Remaining'] = '0';
  }
  return headers;
}

/** Returns the body of an error response that contains the given request id. */
export const bodyOf = ({ body }: Answer, requestId: string): string =>
  typeof body === 'function' ? body(requestId) : typeof body === 'string' ? body : '';

/**
 * Creates the `Response` object for a request, and sets the headers that all responses of the API have. The function
 * passes all headers to the constructor of `Response`. If the function set headers on an existing `Response`, the
 * gateway would answer 10 % fewer list requests per second. A large body is compressed if the client accepts
 * compression.
 */
export function respond({ status, body: made, headers, errorCode }: Answer, state: RequestState): Response {
  const body = typeof made === 'function' ? made(state.requestId) : made;
  const large = body !== null && isLarge(body);
  const coding = large ? contentCoding(state.acceptEncoding) : undefined;
  const hold = (change: number) => {
    state.heldBytes += change;
  };
  // The code combines the headers with `Object.assign`, because the spread syntax would take several microseconds.
  const allHeaders = surfaceHeaders(state, status);
  if (body !== null) Object.assign(allHeaders, jsonHeaders);
  if (large) allHeaders.Vary = 'Accept-Encoding';
  if (coding) allHeaders['Content-Encoding'] = coding;
  const response = new Response(coding && body !== null ? compressed(body, coding, hold) : body, {
    status,
    headers: Object.assign(allHeaders, headers),
  });
  state.response = response;
  if (errorCode) state.errorCode = errorCode;
  return response;
}

/**
 * Whether a response is an event stream. An event stream ends when the client disconnects, or when the API key of the
 * client becomes invalid.
 */
export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
