import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type ConnectionLimits, connectionLimits, trackConnections } from './connections.ts';
import type { RefuseKnown } from '../guard/known-refusals.ts';
import { answerEarly, earlyResponse, type RefusalBody, refuseSeveralHosts } from './early-answers.ts';
import { createUnreadBodies } from './unread-bodies.ts';

/** Host names that mean every address of the machine, each with an address that a browser can open. */
const reachableHost: Partial<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** A server that accepts requests. */
export interface Listener {
  /** The URL of the server on this machine, such as `http://127.0.0.1:3000`. */
  url: string;
  /**
   * Accepts no more connections and finishes the requests in progress. After 8 s, the remaining connections are closed.
   */
  close(): Promise<void>;
}

/** The address on which a server listens. */
interface ListenAddress {
  host: string;
  port: number;
  /** The environment variable that sets the port. */
  portVariable: 'PORT' | 'METRICS_PORT';
}

/**
 * Binds a server to an address.
 *
 * @throws when the server cannot listen on the address; the message names the variables
 */
const bind = (server: Server, { host, port, portVariable }: ListenAddress) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`Cannot listen on HOST ${host}, ${portVariable} ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });

/**
 * Checks that a server can listen on an address. The start runs this check before anything else. The address is free
 * again when this function returns.
 *
 * @throws when a server cannot listen on the address; the message names the variables
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
 * @param options.refusalBody creates the response body for a request that never reaches the app
 * @param options.behindProxy whether every connection comes from a proxy, so that its address is not the client's
 * @param options.refuseKnown answers requests that need not reach the app
 * @throws when the server cannot listen on the address; the message names the variables
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
    autoCleanupIncoming: false, // the value true would read the unread bodies of all answered requests at once
  });
  const followBody = createUnreadBodies(limits);
  const server = createServer(nodeOptions(limits), (incoming, outgoing) => {
    followBody(incoming, outgoing);
    if (refuseSeveralHosts(incoming, outgoing, refusalBody)) return;
    // An HTTP/1.0 request gets a Host header here, because Hono requires one. Only HTTP/1.1 requires the header (RFC
    // 9112, section 3.2), and health probes that use HTTP/1.0 send none.
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
  // Node does not check the Host header, because Node's refusal would have an empty body. Hono rejects the request with
  // an error body.
  requireHostHeader: false,
});
