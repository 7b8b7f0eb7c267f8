import { createServer, type ServerOptions } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type ConnectionLimits, connectionLimits, trackConnections } from './connections.ts';
import type { RefuseKnown } from './known-refusals.ts';
import { answerEarly, earlyResponse, type RefusalBody } from './early-answers.ts';
import { createUnreadBodies } from './unread-bodies.ts';

/** Hosts that stand for every address of the machine, and one of these addresses, which a browser can open. */
const reachableHost: Partial<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** A server that accepts requests. */
export interface Listener {
  /** Where this machine reaches it, such as `http://127.0.0.1:3000`. */
  url: string;
  /** Accepts no more, finishes what is in flight, and gives up after 8 s. */
  close(): Promise<void>;
}

/**
 * Serves an app over HTTP.
 *
 * @param options.portVariable the variable that the port comes from
 * @param options.refusalBody words the answer to a request that is not HTTP
 * @param options.behindProxy whether every connection comes from a proxy, whose address is not that of a client
 * @param options.refuseKnown answers requests that need not reach the app
 * @throws when the address cannot be listened on; the message names the variables
 */
export async function listen(
  app: { fetch: Parameters<typeof getRequestListener>[0] },
  options: {
    host: string;
    port: number;
    portVariable: 'PORT' | 'METRICS_PORT';
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
    autoCleanupIncoming: false, // it would read the bodies of all answered requests at once
  });
  const followBody = createUnreadBodies(limits);
  const server = createServer(nodeOptions(limits), (incoming, outgoing) => {
    followBody(incoming, outgoing);
    if (!refuseKnown?.(incoming, outgoing)) void answer(incoming, outgoing);
  });
  server.maxConnections = limits.maxConnections;
  server.timeout = limits.silentTimeoutMs;
  const connections = trackConnections(server, limits, { countByAddress: !behindProxy });
  answerEarly(server, refusalBody, connections);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Error(`Cannot listen on HOST ${host}, ${portVariable} ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
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
  // Node would answer a request without Host with an empty body; Hono refuses it too, and its refusal has one.
  requireHostHeader: false,
});
