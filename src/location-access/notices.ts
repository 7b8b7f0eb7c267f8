import { EventEmitter } from 'node:events';
import { anyChange, type Channel, type PubSub } from '../redis/pub-sub.ts';
import { createLatestValue } from '../scheduling/latest-value.ts';

/** Notifies all processes that a location may have changed. */
export interface LocationNotices {
  /**
   * Notifies all watchers of a location. The function returns immediately. It must be called after the change is
   * committed. Several changes in quick succession cause only one notice.
   */
  publish(locationId: string): void;
  /**
   * Yields the id of a location after each change that is made once the promise has settled. If notices may have been
   * lost because Redis was unreachable, the iterator yields the ids of all watched locations. Several changes of a
   * location that the caller has not read yet are yielded once.
   *
   * @param options.presentFirst whether the ids of all watched locations are yielded first, for a subscription that
   *   starts with the current state
   */
  watch(
    locationIds: readonly string[],
    options?: { presentFirst?: boolean },
  ): Promise<AsyncIterableIterator<string>>;
}

/** How long the process collects notices before it sends them, in milliseconds. Many changes then cost one message. */
const gatheringMs = 20;

/** Creates the notices about changed locations, which use one channel of `pubSub`. */
export function createLocationNotices(
  pubSub: PubSub,
  channel: Exclude<Channel, 'keys-changed'>,
): LocationNotices {
  /** The locations about which the next message notifies other processes. */
  const gathered = new Set<string>();
  /** Emits an event for each changed location. The id of the location is the name of the event. */
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

  /**
   * Calls a listener for each notice about a location. The process subscribes to the channel only while it has
   * listeners.
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
