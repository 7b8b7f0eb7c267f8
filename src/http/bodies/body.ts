import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { requestHeader } from '../request-header.ts';
import type { GatewayEnv } from '../request-state.ts';

/**
 * Refuses request bodies that are larger than a maximum size. If the request has a `Content-Length`, the header
 * decides, because Node enforces it. Otherwise Hono counts the bytes, which takes longer, because Hono has to build the
 * whole `Request`.
 *
 * @param maxSize in bytes
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

/** Whether a Content-Type is JSON (RFC 8259, section 11). Parameters such as `charset` are ignored. */
export const isJson = (contentType: string | null | undefined) =>
  /^application\/json\s*(;|$)/i.test(contentType ?? '');
