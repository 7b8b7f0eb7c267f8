import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type ConnectionLimits, connectionLimits, trackConnections } from './connections.ts';
import type { RefuseKnown } from '../guard/known-refusals.ts';
import { answerEarly, earlyResponse, type RefusalBody, refuseSeveralHosts } from './early-answers.ts';
import { createUnreadBodies } from './unread-bodies.ts';

/**
 * With the host `0.0.0.0` or `::`, a server listens on all addresses of the machine. The map `reachableHost` translates
 * `0.0.0.0` and `::` to addresses that a browser on this machine can open.
 */
const reachableHost: Partial<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** A running HTTP server. */
export interface Listener {
  /** The URL at which this machine can reach the server, such as `http://127.0.0.1:3000`. */
  url: string;
  /**
   * Stops accepting connections and finishes the requests in progress. 8 s after the call of `close`, the server closes
   * the connections that are still open.
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
 * @throws when the server cannot listen on the address; the error message names the environment variables to change
 */
const bind = (server: Server, { host, port, portVariable }: ListenAddress) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`Cannot listen on HOST ${host}, ${portVariable} ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });

/**
 * Checks that a server can listen on an address: opens a test server on the address, and closes it immediately. At its
 * start, a gateway process checks its listen addresses before it opens the database.
 *
 * @throws when a server cannot listen on the address; the error message names the environment variables to change
 */
export async function requireFreeAddress(address: ListenAddress): Promise<void> {
  const server = createTcpServer();
  await bind(server, address);
  server.close();
  await once(server, 'close');
}

/**
 * Starts an HTTP server for an app.
 *
 * @param options.refusalBody creates the response body when the server refuses a request before the request reaches the
 *   app
 * @param options.behindProxy whether all connections come from a proxy. The address of each connection is then the
 *   address of the proxy, and not the address of a client
 * @param options.refuseKnown refuses some requests before they reach the app, for example requests with an invalid API
 *   key
 * @throws when the server cannot listen on the address; the error message names the environment variables to change
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
    autoCleanupIncoming: false, // if true, Hono would read unread request bodies right after the response
  });
  const followBody = createUnreadBodies(limits);
  const server = createServer(nodeOptions(limits), (incoming, outgoing) => {
    followBody(incoming, outgoing);
    if (refuseSeveralHosts(incoming, outgoing, refusalBody)) return;
    // Hono requires a Host header, so the server adds a Host header to an HTTP/1.0 request. HTTP/1.0 does not require
    // the Host header (RFC 9112, section 3.2), and health probes over HTTP/1.0 do not send it.
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
  // Hono checks the Host header, so the option `requireHostHeader: false` turns off Node's own check. For a request
  // without a Host header, Node would send a response with an empty body instead of the usual error body.
  requireHostHeader: false,
});
