import type { Context as HonoContext } from 'hono';
import type { GatewayEnv } from './request-state.ts';

/**
 * Returns a header of a request, or undefined when the client did not send the header. `requestHeader` reads the
 * headers that Node has parsed. With a new `Headers` object for each request, the gateway would need 10% more time to
 * refuse a request. A request without a network connection, for example from a test, has no headers from Node. If a
 * request has no headers from Node, `requestHeader` reads the `Headers` object of the request.
 *
 * @param name the name of the header in lower case
 */
export function requestHeader(c: HonoContext<GatewayEnv>, name: Lowercase<string>): string | undefined {
  const sent = c.env?.incoming?.headers;
  if (!sent) return c.req.header(name);
  const value = sent[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
