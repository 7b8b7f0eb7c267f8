import { connect as connectPlain } from 'node:net';
import { connect as connectWithTls } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';
import { connectionParts } from './servers.ts';

/** How long a Redis server may take to close a connection before the gateway drops the connection, in milliseconds. */
const disconnectTimeoutMs = 2000;

/**
 * Creates a connector that connects to one node of a Redis Cluster. Each process chooses its first Redis node at
 * random, so that the connections of all processes are spread over all nodes. After a lost connection, the connector
 * connects to the next node in `urls`.
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
