import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { createRedisClient } from './client.ts';
import type { RedisServers } from './servers.ts';
import { whenLate } from './time-limit.ts';

/**
 * The name of a channel through which gateway processes send notices to each other. While Redis is unreachable, a
 * gateway process keeps at most one unsent notice for each channel, so that the queue of unsent notices stays short.
 */
export type Channel = 'keys-changed' | 'location-status' | 'whitelist';

/**
 * The text of a notice that does not say what has changed. A process that receives the notice `anyChange` must assume
 * that all data of the channel has changed.
 */
export const anyChange = '';

/** Sends notices between the processes of a gateway, such as a notice that API keys have changed. */
export interface PubSub {
  /**
   * Sends a notice about a change to all gateway processes. While Redis is unreachable, only the process that sends a
   * notice receives it immediately. Other gateway processes receive the notice when Redis is reachable again. If
   * several notices of a channel wait for Redis, the process later sends only one notice with the text `anyChange` in
   * place of all of them.
   */
  publish(channel: Channel, message: string): Promise<void>;
  /**
   * Calls a listener for each notice in a channel, including the notices that this process sends. Returns a function
   * that ends the subscription.
   */
  subscribe(channel: Channel, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** Whether this process currently receives the notices that other processes send. */
  readonly connected: boolean;
  /**
   * Calls a listener whenever this process starts or stops receiving the notices that other processes send. The
   * listener gets the new value of `connected`. Returns a function that removes the listener.
   */
  onConnectionChange(listener: (connected: boolean) => void): () => void;
  close(): Promise<void>;
}

/**
 * Creates the notice channels of a gateway that does not use Redis. In a gateway without Redis, each process receives
 * only its own notices.
 */
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
      return () => undefined; // without Redis, `connected` never changes, so nothing calls the listener
    },
    async close() {
      channels.removeAllListeners();
    },
  };
}

/** The interval between two pings on the Redis connection that receives notices, in milliseconds. */
const heartbeatIntervalMs = 200;
/**
 * The time limit for the response to a ping, in milliseconds. If Redis has not responded to a ping when this time limit
 * ends, the gateway process treats the Redis connection as lost. An unresponsive Redis must not delay the revocation of
 * an API key by more than 500 ms (docs/contract-keys.md#keys). The sum of `heartbeatTimeoutMs` and
 * `heartbeatIntervalMs` must therefore be less than 500 ms.
 */
const heartbeatTimeoutMs = 250;

/** The interval at which the process tries again to send notices that it could not send, in milliseconds. */
const resendIntervalMs = 500;

/**
 * Creates the channels through which gateway processes send notices to each other with the help of Redis. A process can
 * start or continue to run while Redis is unreachable. When Redis is reachable again, the process subscribes to the
 * channels again. In a Redis cluster, every node receives every notice, so one connection to any node is sufficient.
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
    const answered = whenLate(heartbeatTimeoutMs, () => setConnected(false));
    const alive = await subscriber.ping().then(
      () => true,
      () => false,
    );
    answered();
    heartbeatPending = false;
    // On one connection, Redis sends all notices and responses in order. When the response to a ping arrives, all
    // notices that Redis sent before the response have already arrived.
    setConnected(alive && subscribed);
  }, heartbeatIntervalMs).unref();
  subscriber.on('message', (channel: string, message: string) => channels.emit(channel, message));
  subscriber.on('close', () => {
    subscribed = false;
    setConnected(false);
  });
  subscriber.on('ready', () => {
    // After a reconnection, `connected` stays false until the process has subscribed to all channels again.
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
