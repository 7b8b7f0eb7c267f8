import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { requestHeader } from '../request-header.ts';
import type { GatewayEnv } from '../request-state.ts';

/**
 * Refuses bodies over a maximum size. The check trusts the `Content-Length`, because Node enforces it. Without a
 * `Content-Length`, Hono counts the bytes, and has to build the whole `Request` for this.
 *
 * @param maxSize in bytes
 * @param onError answers a request whose body is too large
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

/** Whether a Content-Type is JSON (RFC 8259, section 11). The parameters of the Content-Type do not matter. */
export const isJson = (contentType: string | null | undefined) =>
  /^application\/json\s*(;|$)/i.test(contentType ?? '');
