import type { ErrorCode } from '../errors/error-table.ts';
import { compressed, contentCoding, isLarge } from './compression.ts';
import { rateLimitHeaders } from '../rate-limit/rate-limiter.ts';
import type { RequestState } from './request-state.ts';

/** An answer in JSON, before it becomes a response. */
export interface Answer {
  status: number;
  /**
   * Null for an answer that has none, such as a 304. The body of an error is made when the id of the request is
   * known, so that an answer can be made once for all requests that are refused alike.
   */
  body: string | ReadableStream<Uint8Array> | ((requestId: string | undefined) => string) | null;
  headers?: Record<string, string>;
  /** The code of the error that the answer tells of, for the log, the metrics and the usage record. */
  errorCode?: ErrorCode | undefined;
}

/** The type of every answer that has a body. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/**
 * When a request may come again that was refused although its key is within its limits, in seconds: something has
 * more to do than it can, such as a location with many changes at once.
 */
const busyRetryAfterSeconds = 1;

/**
 * The headers that every response of a surface has.
 *
 * @param status of the response: 429 always says when to come back
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

/** The body of an answer that is an error. */
export const bodyOf = ({ body }: Answer, requestId: string): string =>
  typeof body === 'function' ? body(requestId) : typeof body === 'string' ? body : '';

/**
 * Makes an answer the response to a request, with the headers of its surface. To add them to a finished
 * response costs a list a tenth of its throughput. Large bodies are compressed for clients that take that.
 *
 * @param state of the request; a request outside of both surfaces has none
 */
export function respond({ status, body: made, headers, errorCode }: Answer, state?: RequestState): Response {
  const body = typeof made === 'function' ? made(state?.requestId) : made;
  const large = state !== undefined && body !== null && isLarge(body);
  const coding = large ? contentCoding(state.acceptEncoding) : undefined;
  const hold = (change: number) => {
    if (state) state.heldBytes += change;
  };
  // One after the other: an object of five spreads takes several microseconds.
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
