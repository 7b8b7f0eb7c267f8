import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { createRedisClient } from './redis.ts';

/** Carries notices between the processes of a gateway. */
export interface PubSub {
  /** Sends a notice; it is lost, with a word in the log, while Redis is away. */
  publish(channel: string, message: string): Promise<void>;
  /** Calls a listener for each notice, this process' own included, until the returned function is called. */
  subscribe(channel: string, listener: (message: string) => void): Promise<() => Promise<void>>;
  /** Whether notices of other processes arrive. */
  readonly connected: boolean;
  /** Calls a listener when notices stop arriving, and when they arrive again, until the returned function is called. */
  onConnectionChange(listener: (connected: boolean) => void): () => void;
  close(): Promise<void>;
}

/** Notices within one process, for a gateway without Redis. */
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
      return () => undefined; // within a process nothing is ever lost
    },
    async close() {
      channels.removeAllListeners();
    },
  };
}

/** Notices over Redis. Starts and goes on without Redis, and subscribes again when it is back. */
export function createRedisPubSub(url: string, log: Logger): PubSub {
  const publisher = createRedisClient(url, log, { commandTimeout: 1000 });
  const subscriber = createRedisClient(url, log, { autoResubscribe: false, commandTimeout: 1000 });
  const channels = new EventEmitter().setMaxListeners(0);
  const connection = new EventEmitter().setMaxListeners(0);
  const names = new Set<string>();
  let connected = false;

  function setConnected(now: boolean): void {
    if (connected === now) return;
    connected = now;
    connection.emit('change', now);
  }
  subscriber.on('message', (channel: string, message: string) => channels.emit(channel, message));
  subscriber.on('close', () => setConnected(false));
  subscriber.on('ready', () => {
    // Only what is subscribed again can be relied on.
    const subscribed = names.size > 0 ? subscriber.subscribe(...names) : Promise.resolve();
    subscribed.then(
      () => setConnected(true),
      () => subscriber.disconnect(true),
    );
  });

  return {
    get connected() {
      return connected;
    },
    async publish(channel, message) {
      await publisher.publish(channel, message).catch((error: Error) => {
        log.warn({ cause: error.message, channel }, 'a notice to other processes was lost: Redis is away');
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
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
