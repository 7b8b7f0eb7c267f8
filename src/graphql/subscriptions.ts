import type { ExecutionResult, GraphQLError } from 'graphql';
import type { AuthenticatedKey } from '../auth/key.ts';
import { ServiceError } from '../errors/error-table.ts';

/** Tells a stream of results when it must end. */
export interface StreamLease {
  key: AuthenticatedKey;
  /** Checks the API key of the request again. Rejects when the key is no longer valid. */
  reauthenticate(): Promise<unknown>;
  /** Calls `listener` each time any API key is changed. Returns a function that stops these calls. */
  onKeysChanged(listener: () => void): () => void;
  /** Aborts when the process stops, which ends the stream. */
  stopping: AbortSignal;
}

/**
 * The open streams of subscription results. Each stream belongs to an API key and ends when that key becomes invalid.
 */
export interface KeyBoundStreams {
  /**
   * Counts a new stream of an API key. Returns a function that removes the stream from the count.
   *
   * @throws {ServiceError} `VALIDATION_ERROR` when the key has too many open streams
   */
  open(key: AuthenticatedKey): () => void;
  /**
   * Passes on the results of a subscription while its API key is valid. When the key becomes invalid, the stream sends
   * an error with the reason and ends. When this process has been notified that the key was revoked, it sends no more
   * results.
   *
   * @param close the function that `open` returned for the stream
   */
  bind(
    results: AsyncIterableIterator<ExecutionResult>,
    lease: StreamLease,
    close: () => void,
  ): AsyncIterableIterator<ExecutionResult>;
}

/**
 * How often a stream checks whether its API key is still valid, in milliseconds. The check is needed because no notice
 * is sent when a key expires.
 */
const checkIntervalMs = 5_000;
/** The maximum number of open streams of one API key in one process. Each open stream takes memory. */
const maxStreamsPerKey = 100;

/**
 * Creates the object that counts and ends the streams of one process.
 *
 * @param onCount called with 1 when a stream opens, and with -1 when it ends
 */
export function createKeyBoundStreams(onCount: (change: 1 | -1) => void): KeyBoundStreams {
  const openStreams = new Map<string, number>();

  function count(id: string, change: 1 | -1): void {
    onCount(change);
    const open = (openStreams.get(id) ?? 0) + change;
    if (open > 0) openStreams.set(id, open);
    else openStreams.delete(id);
  }

  return {
    open({ id }) {
      if ((openStreams.get(id) ?? 0) >= maxStreamsPerKey) {
        throw new ServiceError(
          'VALIDATION_ERROR',
          `API key may have at most ${maxStreamsPerKey} subscriptions open`,
        );
      }
      count(id, 1);
      let isOpen = true;
      return () => {
        if (isOpen) count(id, -1);
        isOpen = false;
      };
    },
    bind(results, { reauthenticate, onKeysChanged, stopping }, close) {
      let refusal: GraphQLError | undefined;
      const end = async () => void (await results.return?.());
      const check = () =>
        reauthenticate().catch(async (error: GraphQLError) => {
          refusal = error;
          await end();
        });

      async function* passOn(): AsyncGenerator<ExecutionResult> {
        const ignoreKeys = onKeysChanged(() => void check());
        const timer = setInterval(() => void check(), checkIntervalMs);
        stopping.addEventListener('abort', end);
        try {
          if (stopping.aborted) await end();
          for await (const result of results) {
            await check();
            if (refusal) break;
            yield result;
          }
          if (refusal) yield { errors: [refusal] };
        } catch (error) {
          // The error is sent as a result, because Yoga would otherwise send its original message to the client.
          yield { errors: [error as GraphQLError] };
        } finally {
          close();
          ignoreKeys();
          clearInterval(timer);
          stopping.removeEventListener('abort', end);
        }
      }

      const passed = passOn();
      return {
        next: () => passed.next(),
        // The source of the results must end first. `return` alone does not interrupt a generator that waits for a
        // result.
        async return() {
          close(); // without a first read, the `finally` of the generator does not run
          await end();
          return passed.return(undefined);
        },
        [Symbol.asyncIterator]() {
          return this;
        },
      };
    },
  };
}
