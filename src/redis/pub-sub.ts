import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { createRedisClient } from './client.ts';
import type { RedisServers } from './servers.ts';

/**
 * The name of a channel of notices. While Redis is unreachable, at most one notice for each channel waits, so the queue
 * has no other limit.
 */
export type Channel = 'keys-changed' | 'location-status' | 'whitelist';

/** The text of a notice that anything in its channel may have changed. */
export const anyChange = '';

/** Sends notices between the processes of a gateway, such as a notice that API keys have changed. */
export interface PubSub {
  /**
   * Sends a notice about a change. While Redis is unreachable, only this process receives the notice immediately. The
   * other processes receive it when Redis is back. Several waiting notices of a channel are then replaced by one
   * `anyChange`.
   */
  publish(channel: Channel, message: string): Promise<void>;
  /**
   * Calls a listener for each notice in a channel, including the notices that this process sends. Returns a function
   * that ends the subscription.
   */
  subscribe(channel: Channel, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** Whether this process receives the notices of other processes at the moment. */
  readonly connected: boolean;
  /** Calls a listener whenever the value of `connected` changes. Returns a function that removes the listener. */
  onConnectionChange(listener: (connected: boolean) => void): () => void;
  close(): Promise<void>;
}

/** Creates the channels of a gateway without Redis. Each process then receives only its own notices. */
export function createLocalPubSub(): PubSub {
  const channels = new EventEmitter().setMaxListeners(0);
  return {
    connected: true,
    async publish(channel, message) {
      channels.emit(channel, message);
    },
    async subscribe(channel, listener) {
      channels.on(channel, listener);
      return async () => {
        channels.off(channel, listener);
      };
    },
    onConnectionChange() {
      return () => undefined; // within a process, no notice is ever lost
    },
    async close() {
      channels.removeAllListeners();
    },
  };
}

/** How often the connection that receives notices is pinged, in milliseconds. */
const heartbeatIntervalMs = 200;
/**
 * How long a ping may take before the connection counts as lost, in milliseconds. This time and `heartbeatIntervalMs`
 * together are shorter than 500 ms. An unresponsive Redis may delay the revocation of a key by at most 500 ms
 * (docs/contract.md#keys).
 */
const heartbeatTimeoutMs = 250;

/** How often the process tries again to send notices that could not be sent, in milliseconds. */
const resendIntervalMs = 500;

/**
 * Creates the channels of a gateway with Redis. A process can start or continue without Redis, and subscribes again
 * when Redis is back. In a cluster, every node receives every notice, so one connection to any node is sufficient.
 */
export function createRedisPubSub(servers: RedisServers, log: Logger): PubSub {
  const publisher = createRedisClient(servers, log, { commandTimeout: 1000 });
  const subscriber = createRedisClient(servers, log, { autoResubscribe: false, commandTimeout: 1000 });
  const channels = new EventEmitter().setMaxListeners(0);
  const connection = new EventEmitter().setMaxListeners(0);
  const names = new Set<Channel>();
  let connected = false;

  function setConnected(now: boolean): void {
    if (connected === now) return;
    connected = now;
    connection.emit('change', now);
  }
  const unsent = new Map<Channel, string>();
  let resending = false;
  const resend = setInterval(async () => {
    if (resending || publisher.status !== 'ready') return;
    resending = true;
    for (const [channel, message] of unsent) {
      const sent = await publisher.publish(channel, message).then(
        () => true,
        () => false,
      );
      if (!sent) break;
      if (unsent.get(channel) === message) unsent.delete(channel);
    }
    resending = false;
  }, resendIntervalMs).unref();

  let subscribed = false;
  let heartbeatPending = false;
  const heartbeat = setInterval(async () => {
    if (heartbeatPending || !subscribed) return;
    heartbeatPending = true;
    let answered = false;
    // A response that waits only because this process is busy does not count as late. The process reads such a response
    // before the second `setImmediate`.
    const late = setTimeout(() => {
      setImmediate(() => setImmediate(() => !answered && setConnected(false)));
    }, heartbeatTimeoutMs);
    const alive = await subscriber.ping().then(
      () => true,
      () => false,
    );
    answered = true;
    clearTimeout(late);
    heartbeatPending = false;
    // Redis sends messages in order. When this response arrives, all earlier notices have already arrived.
    setConnected(alive && subscribed);
  }, heartbeatIntervalMs).unref();
  subscriber.on('message', (channel: string, message: string) => channels.emit(channel, message));
  subscriber.on('close', () => {
    subscribed = false;
    setConnected(false);
  });
  subscriber.on('ready', () => {
    // The connection counts as working only after all channels are subscribed again.
    const resubscribed = names.size > 0 ? subscriber.subscribe(...names) : Promise.resolve();
    resubscribed.then(
      () => {
        subscribed = true;
        setConnected(true);
      },
      () => subscriber.disconnect(true),
    );
  });

  return {
    get connected() {
      return connected;
    },
    async publish(channel, message) {
      await publisher.publish(channel, message).catch(() => {
        unsent.set(channel, unsent.has(channel) ? anyChange : message);
        channels.emit(channel, message);
      });
    },
    async subscribe(channel, listener) {
      channels.on(channel, listener);
      if (!names.has(channel)) {
        names.add(channel);
        if (subscriber.status === 'ready')
          await subscriber.subscribe(channel).catch(() => subscriber.disconnect(true));
      }
      return async () => {
        channels.off(channel, listener);
        if (channels.listenerCount(channel) > 0) return;
        names.delete(channel);
        await subscriber.unsubscribe(channel).catch(() => undefined);
      };
    },
    onConnectionChange(listener) {
      connection.on('change', listener);
      return () => connection.off('change', listener);
    },
    async close() {
      channels.removeAllListeners();
      connection.removeAllListeners();
      clearInterval(heartbeat);
      clearInterval(resend);
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
