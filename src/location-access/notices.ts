import { EventEmitter } from 'node:events';
import { anyChange, type Channel, type PubSub } from '../redis/pub-sub.ts';
import { createLatestValue } from '../scheduling/latest-value.ts';

/** Notifies every process that a location may have changed. */
export interface LocationNotices {
  /**
   * Notifies all watchers of a location, and returns at once. The caller calls the function after the change is
   * committed. Changes that follow each other quickly are joined into one notice.
   */
  publish(locationId: string): void;
  /**
   * Yields the id of a location after each change that is made after the promise has settled. If notices may have been
   * lost because Redis was unreachable, the iterator yields every watched location. When changes of a location arrive
   * faster than they are read, they are joined into one notice.
   *
   * @param options.presentFirst whether every location is also yielded at once, for a subscription that starts with the
   *   current state
   */
  watch(
    locationIds: readonly string[],
    options?: { presentFirst?: boolean },
  ): Promise<AsyncIterableIterator<string>>;
}

/** How long notices are collected before they are sent, in milliseconds, so that many changes cost one message. */
const gatheringMs = 20;

/** Creates the notices of one channel of `pubSub`. */
export function createLocationNotices(
  pubSub: PubSub,
  channel: Exclude<Channel, 'keys-changed'>,
): LocationNotices {
  /** The locations whose notices are sent with the next message. */
  const gathered = new Set<string>();
  /** Emits an event for each changed location. The name of the event is the id of the location. */
  const watchers = new EventEmitter().setMaxListeners(0);
  let subscription: Promise<() => Promise<void>> | undefined;

  function send(): void {
    const message = [...gathered].join();
    gathered.clear();
    void pubSub.publish(channel, message);
  }

  function notifyWatchers(message: string): void {
    const changed = message === anyChange ? watchers.eventNames() : message.split(',');
    for (const locationId of changed) watchers.emit(locationId);
  }

  /** Calls a listener for each notice of a location. The process subscribes to notices only while it has listeners. */
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
      if (gathered.size === 0) setTimeout(send, gatheringMs);
      gathered.add(locationId);
    },
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
