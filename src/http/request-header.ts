import type { Context as HonoContext } from 'hono';
import type { GatewayEnv } from './request-state.ts';

/**
 * Returns a header of a request, or undefined when the client did not send the header. The function reads the headers
 * that Node has parsed, because building a `Headers` object takes a tenth of the time of a refusal. Only a request from
 * within the process has a `Headers` object from the start.
 *
 * @param name in lower case
 */
export function requestHeader(c: HonoContext<GatewayEnv>, name: Lowercase<string>): string | undefined {
  const sent = c.env?.incoming?.headers;
  if (!sent) return c.req.header(name);
  const value = sent[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
