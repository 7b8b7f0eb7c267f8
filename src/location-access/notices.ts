import { EventEmitter } from 'node:events';
import { anyChange, type Channel, type PubSub } from '../redis/pub-sub.ts';
import { createLatestValue } from '../scheduling/latest-value.ts';

/** Notifies all gateway processes that a location may have changed, and receives the notices of other processes. */
export interface LocationNotices {
  /**
   * In all gateway processes, notifies the code that watches a location (see `watch`). `publish` returns immediately.
   * The caller must commit its change to the location in the database before it calls `publish`. Several changes of a
   * location in quick succession cause only one notice.
   */
  publish(locationId: string): void;
  /**
   * Yields the id of a location after each change of the location. The iterator may miss a change that happens before
   * the promise from `watch` is fulfilled. Notices can be lost while Redis is unreachable. When Redis is reachable
   * again, any watched location may have changed, so the iterator yields the ids of all watched locations. If a
   * location changes several times before the caller reads the next id, the iterator yields the id of the location only
   * once.
   *
   * @param options.presentFirst whether the iterator first yields the ids of all watched locations. A subscription
   *   needs these ids to send the current state at its start
   */
  watch(
    locationIds: readonly string[],
    options?: { presentFirst?: boolean },
  ): Promise<AsyncIterableIterator<string>>;
  /**
   * Sends the notices that the process has collected. Before a process stops and disconnects from Redis, it calls
   * `flush`, so that the other processes receive the last notices.
   */
  flush(): Promise<void>;
}

/**
 * The time for which a process collects notices about changed locations, in milliseconds. After `gatheringMs`
 * milliseconds, the process sends all collected notices together in one message.
 */
const gatheringMs = 20;

/** Creates the object that sends and receives notices about changed locations over one channel of `pubSub`. */
export function createLocationNotices(
  pubSub: PubSub,
  channel: Exclude<Channel, 'keys-changed'>,
): LocationNotices {
  /** The location ids to send to the other gateway processes in the next message. */
  const gathered = new Set<string>();
  /** Emits an event for each changed location. The name of each emitted event is the id of the changed location. */
  const watchers = new EventEmitter().setMaxListeners(0);
  let subscription: Promise<() => Promise<void>> | undefined;
  let nextFlush: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(nextFlush);
    if (gathered.size === 0) return;
    const message = [...gathered].join();
    gathered.clear();
    await pubSub.publish(channel, message);
  }

  function notifyWatchers(message: string): void {
    const changed = message === anyChange ? watchers.eventNames() : message.split(',');
    for (const locationId of changed) watchers.emit(locationId);
  }

  /**
   * Calls a listener for each notice about a location. A process subscribes to the channel for location notices only
   * while the process has at least one listener.
   */
  async function listen(locationId: string, listener: () => void): Promise<() => Promise<void>> {
    watchers.on(locationId, listener);
    subscription ??= pubSub.subscribe(channel, notifyWatchers);
    await subscription;
    return async () => {
      watchers.off(locationId, listener);
      if (watchers.eventNames().length > 0) return;
      const unsubscribe = subscription;
      subscription = undefined;
      await (
        await unsubscribe
      )?.();
    };
  }

  return {
    publish(locationId) {
      if (gathered.size === 0) nextFlush = setTimeout(() => void flush(), gatheringMs);
      gathered.add(locationId);
    },
    flush,
    async watch(locationIds, { presentFirst = false } = {}) {
      const { push, values } = createLatestValue<string>(
        async () => {
          forgetConnection();
          await Promise.all(unsubscribe.map((stop) => stop()));
        },
        (locationId) => locationId,
      );
      if (presentFirst) locationIds.forEach(push);
      const unsubscribe = await Promise.all(
        [...new Set(locationIds)].map((locationId) => listen(locationId, () => push(locationId))),
      );
      const forgetConnection = pubSub.onConnectionChange(
        (connected) => connected && locationIds.forEach(push),
      );
      return values;
    },
  };
}
