import type { PubSub } from './pub-sub.ts';

/** Says on every process that the status of a location may have changed. */
export interface StatusNotices {
  /** Tells all who watch a location, without waiting for it. Called after the change is committed. */
  publish(locationId: string): void;
  /**
   * Yields after each change of a location that is made once the promise has settled, and after a time in which
   * notices may have been missed (Redis was away). Changes that come faster than they are taken are one.
   */
  watch(locationId: string): Promise<AsyncIterableIterator<void>>;
}

const channelOf = (locationId: string) => `location-status:${locationId}`;

/** Carries the notices over `pubSub`. */
export function createStatusNotices(pubSub: PubSub): StatusNotices {
  return {
    publish: (locationId) => void pubSub.publish(channelOf(locationId), ''),
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
