import type { ErrorCode } from '../../errors/error-table.ts';
import { compressed, contentCoding, isLarge } from './compression.ts';
import { rateLimitHeaders } from '../../rate-limit/rate-limiter.ts';
import type { RequestState } from '../request-state.ts';

/** The status, headers and body of a response, before a `Response` object is created from them. */
export interface Answer {
  status: number;
  /**
   * The body of the response; null if there is no body, as for status 304. The body of an error is a function of the
   * request id, so that requests which are refused for the same reason can share one answer.
   */
  body: string | ReadableStream<Uint8Array> | ((requestId: string | undefined) => string) | null;
  headers?: Record<string, string>;
  /** The code of the error in the response, for the log, the metrics and the usage record. */
  errorCode?: ErrorCode | undefined;
}

/** The `Content-Type` header of all responses that have a body. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/**
 * The `Retry-After` in seconds for a request that was refused because of an overload, although its API key is within
 * its rate limits. One such overload is too many waiting changes of one location.
 */
const busyRetryAfterSeconds = 1;

/**
 * Returns the headers that all REST or GraphQL responses have.
 *
 * @param status the status of the response; a 429 always has `Retry-After`
 */
export function surfaceHeaders(
  { requestId, decision }: RequestState,
  status: number,
): Record<string, string> {
  const headers = decision ? rateLimitHeaders(decision) : {};
  headers['X-Request-Id'] = requestId;
  if (status === 429) headers['Retry-After'] ??= String(busyRetryAfterSeconds);
  return headers;
}

/** Returns the body of an error response for a request id. */
export const bodyOf = ({ body }: Answer, requestId: string): string =>
  typeof body === 'function' ? body(requestId) : typeof body === 'string' ? body : '';

/**
 * Creates the `Response` for a request, with the headers that all responses of the API have. Adding these headers to a
 * finished `Response` would reduce the throughput of lists by a tenth. Large bodies are compressed for clients that
 * accept compression.
 *
 * @param state the state of the request; undefined for a request that no guard handles
 */
export function respond({ status, body: made, headers, errorCode }: Answer, state?: RequestState): Response {
  const body = typeof made === 'function' ? made(state?.requestId) : made;
  const large = state !== undefined && body !== null && isLarge(body);
  const coding = large ? contentCoding(state.acceptEncoding) : undefined;
  const hold = (change: number) => {
    if (state) state.heldBytes += change;
  };
  // The headers are assigned one after the other. Combining five objects with the spread syntax would take several
  // microseconds.
  const allHeaders: Record<string, string> = state ? surfaceHeaders(state, status) : {};
  if (body !== null) Object.assign(allHeaders, jsonHeaders);
  if (large) allHeaders.Vary = 'Accept-Encoding';
  if (coding) allHeaders['Content-Encoding'] = coding;
  const response = new Response(coding && body !== null ? compressed(body, coding, hold) : body, {
    status,
    headers: Object.assign(allHeaders, headers),
  });
  if (state) {
    state.response = response;
    if (errorCode) state.errorCode = errorCode;
  }
  return response;
}

/**
 * Whether a response is an event stream. An event stream ends when the client disconnects or its API key becomes
 * invalid.
 */
export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
