import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type ConnectionLimits, connectionLimits, trackConnections } from './connections.ts';
import type { RefuseKnown } from '../guard/known-refusals.ts';
import { answerEarly, earlyResponse, type RefusalBody, refuseSeveralHosts } from './early-answers.ts';
import { createUnreadBodies } from './unread-bodies.ts';

/** Host names that stand for all addresses of the machine. Each has an address that a browser can open instead. */
const reachableHost: Partial<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** A running HTTP server. */
export interface Listener {
  /** The URL at which this machine can reach the server, such as `http://127.0.0.1:3000`. */
  url: string;
  /**
   * Accepts no more connections and finishes the requests in progress. The connections that are still open after 8 s
   * are closed.
   */
  close(): Promise<void>;
}

/** The address and the port on which a server listens. */
interface ListenAddress {
  host: string;
  port: number;
  /** The name of the environment variable that sets the port, for error messages. */
  portVariable: 'PORT' | 'METRICS_PORT';
}

/**
 * Binds a server to an address.
 *
 * @throws when the server cannot listen on the address; the message names the environment variables to change
 */
const bind = (server: Server, { host, port, portVariable }: ListenAddress) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`Cannot listen on HOST ${host}, ${portVariable} ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });

/**
 * Checks that a server can listen on an address. The start of the gateway runs this check first. The address is free
 * again when the promise settles.
 *
 * @throws when a server cannot listen on the address; the message names the environment variables to change
 */
export async function requireFreeAddress(address: ListenAddress): Promise<void> {
  const server = createTcpServer();
  await bind(server, address);
  server.close();
  await once(server, 'close');
}

/**
 * Serves an app over HTTP.
 *
 * @param options.refusalBody creates the response body for a request that does not reach the app
 * @param options.behindProxy whether all connections come from a proxy, so that the address of a connection is not the
 *   client's address
 * @param options.refuseKnown answers requests that need not reach the app
 * @throws when the server cannot listen on the address; the message names the environment variables to change
 */
export async function listen(
  app: { fetch: Parameters<typeof getRequestListener>[0] },
  options: ListenAddress & {
    refusalBody: RefusalBody;
    behindProxy?: boolean;
    refuseKnown?: RefuseKnown;
    limits?: Partial<ConnectionLimits>;
  },
): Promise<Listener> {
  const { host, port, portVariable, refusalBody, behindProxy = false, refuseKnown } = options;
  const limits = { ...connectionLimits, ...options.limits };
  const answer = getRequestListener(app.fetch, {
    errorHandler: (error) => earlyResponse(error, refusalBody),
    autoCleanupIncoming: false, // with true, Hono would read the unread bodies of all answered requests immediately
  });
  const followBody = createUnreadBodies(limits);
  const server = createServer(nodeOptions(limits), (incoming, outgoing) => {
    followBody(incoming, outgoing);
    if (refuseSeveralHosts(incoming, outgoing, refusalBody)) return;
    // Hono requires a Host header, so an HTTP/1.0 request gets one here. Only HTTP/1.1 requires the header (RFC 9112,
    // section 3.2), and health probes that use HTTP/1.0 do not send it.
    if (incoming.httpVersion === '1.0') incoming.headers.host ??= 'localhost';
    if (!refuseKnown?.(incoming, outgoing)) void answer(incoming, outgoing);
  });
  server.maxConnections = limits.maxConnections;
  server.timeout = limits.silentTimeoutMs;
  const connections = trackConnections(server, limits, { countByAddress: !behindProxy });
  answerEarly(server, refusalBody, connections);
  await bind(server, { host, port, portVariable });
  const address = server.address();
  const listening = typeof address === 'object' && address ? address.port : port;
  const shownHost = reachableHost[host] ?? host;
  const url = `http://${shownHost.includes(':') ? `[${shownHost}]` : shownHost}:${listening}`;
  return { url, close: () => connections.drain() };
}

const nodeOptions = (limits: ConnectionLimits): ServerOptions => ({
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  connectionsCheckingInterval: limits.checkIntervalMs,
  // Node must not check the Host header, because Node's refusal has an empty body. Hono checks the header and sends an
  // error body.
  requireHostHeader: false,
});
