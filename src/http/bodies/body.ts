import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { requestHeader } from '../request-header.ts';
import type { GatewayEnv } from '../request-state.ts';

/**
 * Refuses request bodies that are larger than a maximum size. If a request has the header `Content-Length`, `limitBody`
 * checks only this header, because Node never reads more bytes of a body than this header states. If the header
 * `Content-Length` is missing, Hono counts the bytes of the body. To count the bytes, Hono has to build the whole
 * `Request` object, which takes longer than reading the header `Content-Length`.
 *
 * @param maxSize the maximum size of a request body in bytes
 * @param onError creates the response to a request whose body is too large
 */
export function limitBody(
  maxSize: number,
  onError: (c: Context<GatewayEnv>) => Response,
): MiddlewareHandler<GatewayEnv> {
  const countBytes = bodyLimit({ maxSize, onError });
  return async function limitBody(c, next) {
    const length = requestHeader(c, 'content-length');
    if (length === undefined || requestHeader(c, 'transfer-encoding') !== undefined)
      return countBytes(c, next);
    return Number(length) > maxSize ? onError(c) : next();
  };
}

/**
 * Whether the header Content-Type contains the media type of JSON (RFC 8259, section 11). The header Content-Type may
 * also contain parameters such as `charset`.
 */
export const isJson = (contentType: string | null | undefined) =>
  /^application\/json\s*(;|$)/i.test(contentType ?? '');
