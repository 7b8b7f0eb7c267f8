import type { ErrorCode } from '../../errors/error-table.ts';
import { compressed, contentCoding, isLarge } from './compression.ts';
import { rateLimitHeaders } from '../../rate-limit/rate-limiter.ts';
import type { RequestState } from '../request-state.ts';

/** An answer in JSON, before the answer is converted to a `Response`. */
export interface Answer {
  status: number;
  /**
   * The body of the answer. The body is null for an answer without a body, such as a 304. The body of an error is a
   * function of the request id, so that one answer can serve all requests that are refused for the same reason.
   */
  body: string | ReadableStream<Uint8Array> | ((requestId: string | undefined) => string) | null;
  headers?: Record<string, string>;
  /** The code of the error in the answer, for the log, the metrics and the usage record. */
  errorCode?: ErrorCode | undefined;
}

/** The `Content-Type` of every answer that has a body. */
export const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/**
 * The `Retry-After` in seconds for a request that was refused although its key is within its rate limits. The cause is
 * an overload, such as too many changes of one location at once.
 */
const busyRetryAfterSeconds = 1;

/**
 * Returns the headers that every response of a surface has.
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

/** Returns the body of an error answer. */
export const bodyOf = ({ body }: Answer, requestId: string): string =>
  typeof body === 'function' ? body(requestId) : typeof body === 'string' ? body : '';

/**
 * Creates the response of a request from an answer, with the headers of its surface. Adding the headers to a finished
 * response would cost lists a tenth of their throughput. Large bodies are compressed for clients that accept
 * compression.
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
  // The headers are assigned one after the other, because an object of five spreads takes several microseconds.
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

/** Whether a response is an event stream. A stream ends when the client disconnects or the key is no longer valid. */
export const isEventStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false;
