import { EventEmitter } from 'node:events';
import type { Logger } from 'pino';
import { createRedisClient } from './client.ts';
import type { RedisServers } from './servers.ts';

/** A subject of notices. There are few, so that what waits for Redis needs no other bound: one notice of each. */
export type Channel = 'keys-changed' | 'location-status' | 'whitelist';

/** The notice that anything of a channel may have changed. */
export const anyChange = '';

/** Carries notices between the processes of a gateway. */
export interface PubSub {
  /**
   * Sends a notice that says what changed. While Redis is away this process has it at once, and the others when Redis
   * is back: of several that wait on a channel they have `anyChange`.
   */
  publish(channel: Channel, message: string): Promise<void>;
  /** Calls a listener for each notice, this process' own included, until the returned function is called. */
  subscribe(channel: Channel, listener: (message: string) => void): Promise<() => Promise<void>>;
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

/** How often the connection that notices arrive on is asked whether it is alive, in milliseconds. */
const heartbeatIntervalMs = 200;
/**
 * How long an answer may take until notices count as late, in milliseconds. With the interval this stays below
 * 500 ms, by which a hung Redis may delay a revocation at most (decisions).
 */
const heartbeatTimeoutMs = 250;

/** How often notices that could not be sent are tried again, in milliseconds. */
const resendIntervalMs = 500;

/**
 * Notices over Redis. Starts and goes on without Redis, and subscribes again when it is back. In a cluster a notice
 * reaches all nodes, whichever of them it is sent to: one connection to any of them is enough.
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
    // An answer that waits while this process is busy is not late: it is read before the second turn.
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
    // What was published before the answer has arrived before it.
    setConnected(alive && subscribed);
  }, heartbeatIntervalMs).unref();
  subscriber.on('message', (channel: string, message: string) => channels.emit(channel, message));
  subscriber.on('close', () => {
    subscribed = false;
    setConnected(false);
  });
  subscriber.on('ready', () => {
    // Only what is subscribed again can be relied on.
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
