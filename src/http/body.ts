import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { requestHeader } from './request-header.ts';
import type { GatewayEnv } from './request-state.ts';

/**
 * Refuses bodies over a size. A length that is announced is believed, as Node enforces it; Hono counts the
 * bytes of all others, for which it has to build the whole Request.
 *
 * @param maxSize in bytes
 * @param onError answers what is too large
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

/** Whether a body is JSON, by its Content-Type (RFC 8259, section 11; parameters do not matter). */
export const isJson = (contentType: string | null | undefined) =>
  /^application\/json\s*(;|$)/i.test(contentType ?? '');
