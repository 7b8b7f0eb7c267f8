import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.ts';
import { pauseOf } from './gateway-fetch.ts';
import { sayWait, type Session } from './session.ts';

// This file contains functions for commands that follow a GraphQL subscription until the user presses Ctrl-C. A command
// that follows a subscription reconnects after a restart of the gateway.

/**
 * The time between two requests for changes (polls) while no subscription stream is open, in milliseconds. With a poll
 * every 15 seconds, a command sends 240 requests an hour. By default, an API key may send 1,000 requests an hour.
 */
const pollIntervalMs = 15_000;
/**
 * The time between two requests for changes (polls) while a subscription stream is open, in milliseconds. If a notice
 * of a change was lost, the command finds this change with the next poll.
 */
const refreshIntervalMs = 60_000;
/**
 * The time that a command waits after a change before it requests the new data, in milliseconds. If several changes
 * happen during this time, the command sends only one request.
 */
const gatheringMs = 200;

/** Waits for a number of milliseconds. If the signal is aborted, the function returns early and throws no error. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Calls `work` again after each temporary failure until `work` succeeds. Before each repeated call, the function waits
 * for the time in the response header `Retry-After`, or for up to 30 seconds if the response has no such header.
 *
 * @param signal an AbortSignal that ends the current pause between two calls. After `signal` is aborted, `work` is
 *   called at most once more
 * @throws {Failure} when `work` fails permanently. The function also throws a `Failure` when `work` fails temporarily
 *   after `signal` is aborted
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
      await pause(seconds * 1000, signal);
    }
  }
}

/**
 * Receives notices of changes from a GraphQL subscription in the background. The function `next` waits for the next
 * notice of a change. If no notice arrives, the function `next` returns when the next request for changes (poll) is
 * due. The caller can thus also find changes whose notices were lost.
 *
 * @param open a function that starts the GraphQL subscription, and calls `onConnected` when the stream is open
 * @param signal an AbortSignal that ends the subscription stream and all pauses. A caller that fails must abort this
 *   signal, because an open subscription stream keeps the process running
 */
export function followNotices(
  { output }: Session,
  open: (onConnected: () => void) => AsyncIterable<unknown>,
  signal: AbortSignal,
): {
  /** Waits until the subscription reports a change (a notice), or until the time of the next poll. */
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
  signal.addEventListener('abort', notice);

  async function follow(): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        const stream = open(() => {
          isConnected = true;
          isOutageSaid = false;
          failures = 0;
          notice(); // this notice makes the caller read the changes that happened before the stream was open
        });
        for await (const _ of stream) notice();
      } catch (error) {
        if (signal.aborted) return;
        if (!isOutageSaid) {
          output.say(
            `${(error as Error).message}; polling every ${pollIntervalMs / 1000} seconds until the stream is open again`,
          );
        }
        isConnected = false;
        // A call of the function `notice` ends the pause of the command, and the command then immediately polls for
        // changes. If the gateway refused the subscription stream because of the API key, the gateway also refuses the
        // next request for changes (poll) for the same reason. The command then shows this reason to the user.
        if (!isOutageSaid && error instanceof Failure && !error.temporary) notice();
        isOutageSaid = true;
        await pause(pauseOf(error, failures) * 1000, signal);
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
      await pause(gatheringMs, signal);
      isNoticed = false;
    },
  };
}
