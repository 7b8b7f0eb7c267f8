import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';
import { pauseOf } from './gateway-fetch.ts';
import { sayWait, type Session } from './session.ts';

// This file is for commands that run until Ctrl-C. Such a command follows a subscription, and reconnects after a
// restart of the gateway.

/**
 * How often the command polls while no stream is open, in milliseconds. This causes 240 requests an hour; an API key
 * allows 1,000 by default.
 */
const pollIntervalMs = 15_000;
/**
 * How often the command polls while a stream is open, in milliseconds. If a notice is lost, the change is found after
 * this time.
 */
const refreshIntervalMs = 60_000;
/** How long the command collects notices before it sends one request for all of them, in milliseconds. */
const gatheringMs = 200;

/** Ignores the AbortError when a wait is aborted. The caller checks the signal itself. */
const ignoreAbort = () => undefined;

/**
 * Repeats `work` until it succeeds, with pauses of at most 30 seconds. A permanent failure ends the retries.
 *
 * @param signal ends the pauses; `work` is then tried once more
 * @throws {Failure} a permanent failure, and any failure after the signal is aborted
 */
export async function untilItSucceeds<Result>(
  work: () => Promise<Result>,
  { output }: Session,
  signal?: AbortSignal,
): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Failure) || !error.temporary || signal?.aborted) throw error;
      const seconds = pauseOf(error, failures);
      sayWait(output)(error.message, seconds);
      await sleep(seconds * 1000, undefined, { signal }).catch(ignoreAbort);
    }
  }
}

/**
 * Follows the notices of a subscription in the background. While no stream can be opened, `next` returns regularly, so
 * that the caller polls.
 *
 * @param open subscribes, and calls `onConnected` when the stream is open
 * @param signal ends the stream and every wait
 */
export function followNotices(
  { output }: Session,
  open: (onConnected: () => void) => AsyncIterable<unknown>,
  signal?: AbortSignal,
): {
  /** Waits until a notice arrives or the next poll is due. */
  next(): Promise<void>;
} {
  let isConnected = false;
  let isOutageSaid = false;
  let isNoticed = false;
  let wake = () => {};
  const notice = () => {
    isNoticed = true;
    wake();
  };
  signal?.addEventListener('abort', notice);

  async function follow(): Promise<void> {
    for (let failures = 1; !signal?.aborted; failures += 1) {
      try {
        const stream = open(() => {
          isConnected = true;
          isOutageSaid = false;
          failures = 0;
          notice(); // makes the caller read changes from before the stream was open
        });
        for await (const _ of stream) notice();
      } catch (error) {
        if (signal?.aborted) return;
        if (!isOutageSaid) {
          output.say(
            `${(error as Error).message}; polling every ${pollIntervalMs / 1000} seconds until the stream is open again`,
          );
        }
        isOutageSaid = true;
        isConnected = false;
        await sleep(pauseOf(error, failures) * 1000, undefined, { signal }).catch(ignoreAbort);
      }
    }
  }
  void follow();

  return {
    async next() {
      if (!isNoticed) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, isConnected ? refreshIntervalMs : pollIntervalMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      await sleep(gatheringMs, undefined, { signal }).catch(ignoreAbort);
      isNoticed = false;
    },
  };
}
