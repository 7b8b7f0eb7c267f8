import { EventEmitter } from 'node:events';
import { anyChange, type Channel, type PubSub } from '../redis/pub-sub.ts';

/** Says on every process that something of a location may have changed. */
export interface LocationNotices {
  /**
   * Tells all who watch a location, without waiting for it. Called after the change is committed. Changes that
   * follow each other fast are told once.
   */
  publish(locationId: string): void;
  /**
   * Yields after each change of a location that is made once the promise has settled, and after a time in which
   * notices may have been missed (Redis was away). Changes that come faster than they are taken are one.
   *
   * @param presentFirst also yields at once, for who begins with the present state
   */
  watch(locationId: string, options?: { presentFirst?: boolean }): Promise<AsyncIterableIterator<void>>;
}

/** How long notices wait for others, so that many changes, of one location or of many, cost one message. */
const gatheringMs = 20;

/** Carries the notices of one channel over `pubSub`. */
export function createLocationNotices(
  pubSub: PubSub,
  channel: Exclude<Channel, 'keys-changed'>,
): LocationNotices {
  /** The locations whose notices are about to be sent. */
  const gathered = new Set<string>();
  /** Calls those who watch a location, by its id. */
  const watchers = new EventEmitter().setMaxListeners(0);
  let takesNotices: Promise<() => Promise<void>> | undefined;

  function send(): void {
    const message = [...gathered].join();
    gathered.clear();
    void pubSub.publish(channel, message);
  }

  function tellWatchers(message: string): void {
    const changed = message === anyChange ? watchers.eventNames() : message.split(',');
    for (const locationId of changed) watchers.emit(locationId);
  }

  /** Calls a listener for each notice of a location. Without anyone who watches, a process takes no notices. */
  async function listen(locationId: string, listener: () => void): Promise<() => Promise<void>> {
    watchers.on(locationId, listener);
    takesNotices ??= pubSub.subscribe(channel, tellWatchers);
    await takesNotices;
    return async () => {
      watchers.off(locationId, listener);
      if (watchers.eventNames().length > 0) return;
      const unsubscribe = takesNotices;
      takesNotices = undefined;
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
    async watch(locationId, { presentFirst = false } = {}) {
      let noticed = presentFirst;
      let ended = false;
      let wake = () => {};
      const notice = () => {
        noticed = true;
        wake();
      };
      const unsubscribe = await listen(locationId, notice);
      const forgetConnection = pubSub.onConnectionChange((connected) => connected && notice());
      const notices: AsyncIterableIterator<void> = {
        async next() {
          if (!noticed && !ended) await new Promise<void>((resolve) => (wake = resolve));
          noticed = false;
          return { done: ended, value: undefined };
        },
        async return() {
          ended = true;
          wake();
          forgetConnection();
          await unsubscribe();
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
      return notices;
    },
  };
}
