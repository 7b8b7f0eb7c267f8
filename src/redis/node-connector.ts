import { connect as connectPlain } from 'node:net';
import { connect as connectWithTls } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';
import { connectionParts } from './servers.ts';

/** How long a server may take to close a connection before the client drops the connection, in milliseconds. */
const disconnectTimeoutMs = 2000;

/**
 * Creates a connector that connects to one node of a cluster. The first node is random, so that the processes spread
 * over the nodes. When the connection is lost, the connector uses the next node.
 */
export function connectorOverNodes(urls: readonly string[]): NonNullable<RedisOptions['Connector']> {
  let turn = Math.floor(Math.random() * urls.length);
  return class NodeConnector extends AbstractConnector {
    constructor() {
      super(disconnectTimeoutMs);
    }

    override async connect() {
      this.connecting = true;
      turn += 1;
      const { host, port, tls } = connectionParts(urls[turn % urls.length]!);
      const stream = tls ? connectWithTls({ host, port }) : connectPlain({ host, port });
      stream.once('error', (error) => (this.firstError = error));
      this.stream = stream;
      return stream;
    }
  };
}
