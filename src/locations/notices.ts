import type { PubSub } from '../redis/pub-sub.ts';

/** What notices can be about. */
type NoticeTopic = 'location-status' | 'whitelist';

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
   */
  watch(locationId: string): Promise<AsyncIterableIterator<void>>;
}

/** How long a notice waits for others of the same location, so that many writes cost one message. */
const gatheringMs = 20;

/** Carries the notices of one topic over `pubSub`. */
export function createLocationNotices(pubSub: PubSub, topic: NoticeTopic): LocationNotices {
  const channelOf = (locationId: string) => `${topic}:${locationId}`;
  /** The locations whose notice is about to be sent. */
  const gathered = new Set<string>();

  return {
    publish(locationId) {
      if (gathered.has(locationId)) return;
      gathered.add(locationId);
      setTimeout(() => {
        gathered.delete(locationId);
        void pubSub.publish(channelOf(locationId), '');
      }, gatheringMs);
    },
    async watch(locationId) {
      let noticed = false;
      let ended = false;
      let wake = () => {};
      const notice = () => {
        noticed = true;
        wake();
      };
      const unsubscribe = await pubSub.subscribe(channelOf(locationId), notice);
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
