import { rateLimitHeaders } from './limiter.ts';
import type { RequestState } from './request-state.ts';

/** An answer in JSON, before it becomes a response. */
export interface Answer {
  status: number;
  body: string | ReadableStream<Uint8Array>;
  headers?: Record<string, string>;
}

const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/** The headers that every response of a surface has. */
export function surfaceHeaders({ requestId, decision }: RequestState): Record<string, string> {
  return { 'X-Request-Id': requestId, ...(decision && rateLimitHeaders(decision)) };
}

/**
 * Makes an answer the response to a request, with the headers of its surface. To add them to a finished
 * response costs a list a tenth of its throughput.
 *
 * @param state of the request; a request outside of both surfaces has none
 */
export function respond({ status, body, headers }: Answer, state?: RequestState): Response {
  const response = new Response(body, {
    status,
    headers: { ...jsonHeaders, ...(state && surfaceHeaders(state)), ...headers },
  });
  if (state) state.response = response;
  return response;
}
