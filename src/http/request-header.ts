import type { Context as HonoContext } from 'hono';
import type { GatewayEnv } from './request-state.ts';

/**
 * A header of a request; undefined when it was not sent. Read from what Node has parsed: to make a `Headers` of it
 * costs a refusal a tenth of its time. A request within the process has a `Headers` alone.
 *
 * @param name in lower case
 */
export function requestHeader(c: HonoContext<GatewayEnv>, name: Lowercase<string>): string | undefined {
  const sent = c.env?.incoming?.headers;
  if (!sent) return c.req.header(name);
  const value = sent[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
