import type { ExecutionResult } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';
import { graphPath, keyHeader } from '../../browser/post.ts';
import { failureOf } from './failure.ts';
import { maxRetryDelayMs, rateLimitDelayMs, retryDelayMs } from './retry.ts';
import { fetchUntilSilent } from './silence.ts';

/**
 * The state of the live updates of one subscription. The state is `live` while the event stream is open. The state is
 * `undefined` before the first connection, and after the view has ended the subscription. If the connection of a
 * subscription is lost, its state is the time at which the connection was lost, in milliseconds since 1970.
 */
export type LiveState = 'live' | number | undefined;

/** Two functions that the React hook `useSyncExternalStore` needs in order to show the state of a subscription. */
export interface LiveConnection {
  /** Returns the state of the subscription that the number `key` identifies (see `SubscriptionRequest`). */
  state(key: number): LiveState;
  /**
   * Calls the listener each time the state of any subscription changes. Returns a function that removes the listener.
   */
  onChange(listener: () => void): () => void;
}

/**
 * The functions that a subscription calls: it calls `next` with each result, and `complete` at the end of the
 * subscription. If the gateway rejects the subscription permanently, the subscription calls `next` with a result that
 * contains errors. After a temporary error, the subscription does not call `next`, but opens a new event stream.
 */
interface Sink {
  next(result: ExecutionResult): void;
  complete(): void;
}

interface SubscriptionRequest {
  /**
   * The number by which urql identifies a subscription. urql computes this number from the query and the variables. Two
   * subscriptions with the same query and the same variables therefore have the same `key`.
   */
  key: number;
  query: string;
  variables?: Record<string, unknown>;
}

/**
 * Describes the end of an event stream: the GraphQL result with errors, and the HTTP response if the gateway opened no
 * stream.
 */
interface StreamEnd {
  refusal?: ExecutionResult | undefined;
  response?: Response | undefined;
}

/** Converts an error of the package graphql-sse to an object that describes how the event stream ended. */
async function endOf(error: unknown): Promise<StreamEnd> {
  if (!(error instanceof NetworkError) || !error.response) return {};
  const response = error.response as Response;
  const refusal = (await response.json().catch(() => undefined)) as ExecutionResult | undefined;
  return { refusal, response };
}

/**
 * Returns the pause before the next attempt to subscribe, in milliseconds. Returns `undefined` if the gateway has
 * rejected the subscription permanently.
 */
function delayAfter({ refusal, response }: StreamEnd, attempt: number): number | undefined {
  if (response && response.status >= 500) return retryDelayMs(attempt);
  const failure = failureOf({ graphQLErrors: [...(refusal?.errors ?? [])], response });
  if (failure.kind === 'rate-limit') return rateLimitDelayMs(attempt, response);
  const isPermanent =
    failure.kind === 'key-refused' || (failure.kind === 'refused' && failure.code !== 'INTERNAL_ERROR');
  return isPermanent ? undefined : retryDelayMs(attempt);
}

/**
 * Waits for the given number of milliseconds, or until the network becomes available again, or until `signal` is
 * aborted.
 */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}

/**
 * Creates subscriptions over server-sent events. When the event stream of a subscription breaks or ends, for example
 * with the error `INTERNAL_ERROR`, the console opens a new stream. A subscription ends when the gateway rejects the
 * subscription permanently, for example with the error `UNAUTHORIZED`, or when the view closes it.
 *
 * @param currentKey a function that returns the API key; the client calls this function before each attempt to connect
 */
export function createLive(currentKey: () => string) {
  const client = createClient({
    url: graphPath,
    headers: () => keyHeader(currentKey()),
    fetchFn: fetchUntilSilent,
    // With `retryAttempts: 0`, the package graphql-sse does not retry a failed subscription, because each rejected
    // attempt costs a rate limit point. The function `run` subscribes again after a pause.
    retryAttempts: 0,
  });

  const states = new Map<number, Exclude<LiveState, undefined>>();
  const listeners = new Set<() => void>();
  function change(key: number, next: LiveState) {
    if (next === states.get(key)) return;
    if (next === undefined) states.delete(key);
    else states.set(key, next);
    for (const listener of listeners) listener();
  }
  /**
   * Records the time at which the live updates of a subscription stopped. If a later attempt to subscribe fails, the
   * recorded time stays the same.
   */
  function lose(key: number) {
    if (typeof states.get(key) !== 'number') change(key, Date.now());
  }

  async function run({ key, query, variables }: SubscriptionRequest, sink: Sink, signal: AbortSignal) {
    let attempt = 0;
    while (!signal.aborted) {
      const openedAt = Date.now();
      const results = client.iterate<Record<string, unknown>, Record<string, unknown>>(
        { query, ...(variables && { variables }) },
        { connected: () => !signal.aborted && change(key, 'live') },
      );
      const stop = () => void results.return?.();
      signal.addEventListener('abort', stop);
      let end: StreamEnd | Promise<StreamEnd> = {};
      try {
        for await (const result of results) {
          if (signal.aborted) return;
          if (result.errors) {
            end = { refusal: result as ExecutionResult };
            break;
          }
          sink.next(result as ExecutionResult);
        }
      } catch (error) {
        end = endOf(error);
      } finally {
        signal.removeEventListener('abort', stop);
      }
      if (signal.aborted) return;
      lose(key);
      // After the end of an event stream that was open for a long time, the console waits only for the shortest pause
      // before it subscribes again. If the gateway closes each event stream immediately, the console waits longer
      // before each attempt to subscribe, up to the maximum pause.
      if (Date.now() - openedAt >= maxRetryDelayMs) attempt = 0;
      const ended = await end;
      const delayMs = delayAfter(ended, attempt);
      if (delayMs === undefined) {
        sink.next(ended.refusal!);
        return;
      }
      attempt += 1;
      await pause(delayMs, signal);
    }
  }

  const connection: LiveConnection = {
    state: (key) => states.get(key),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  return {
    connection,
    /** Subscribes to live updates. Returns a function that ends the subscription. */
    subscribe(request: SubscriptionRequest, sink: Sink): () => void {
      const ending = new AbortController();
      void run(request, sink, ending.signal).finally(() => sink.complete());
      return () => {
        ending.abort();
        if (states.get(request.key) === 'live') change(request.key, undefined);
      };
    },
  };
}
