import type { ExecutionResult, GraphQLError } from 'graphql';
import type { AuthenticatedKey } from '../auth/key.ts';
import { ServiceError } from '../errors/error-table.ts';

/**
 * The functions with which a subscription checks its API key again. The abort signal `stopping` ends the subscription
 * when the process stops.
 */
export interface StreamLease {
  /** Checks the API key of the request again, and throws an error if the API key is no longer valid. */
  reauthenticate(): Promise<unknown>;
  /**
   * Calls `listener` whenever an API key may have changed, for example because a client revoked the key. To remove
   * `listener`, the caller calls the returned function.
   */
  onKeysChanged(listener: () => void): () => void;
  /** The abort signal that ends the subscription stream when the gateway process stops. */
  stopping: AbortSignal;
}

/**
 * The open streams of subscription results. Each stream belongs to an API key and ends when that key becomes invalid.
 */
export interface KeyBoundStreams {
  /**
   * Counts a new stream as an open stream of an API key. When the stream ends, the caller must call the returned
   * function. Otherwise, the stream would still count as open.
   *
   * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when the API key has too many open streams
   */
  open(key: AuthenticatedKey): () => void;
  /**
   * Forwards the results of a subscription to the client while the API key of the subscription is valid. When the API
   * key becomes invalid, the subscription stream sends the client an error with the reason, and ends. When this process
   * receives the notice that the API key of a stream was revoked, the stream immediately stops sending results.
   *
   * @param close the function that the caller received from `open` for the same stream
   */
  bind(
    results: AsyncIterableIterator<ExecutionResult>,
    lease: StreamLease,
    close: () => void,
  ): AsyncIterableIterator<ExecutionResult>;
}

/**
 * The interval at which a stream checks whether its API key is still valid, in milliseconds. A stream checks its API
 * key regularly, because the gateway sends no notice when an API key expires.
 */
const checkIntervalMs = 5_000;
/**
 * The maximum number of open streams of one API key in one process. The number of open streams is limited, because each
 * open stream occupies memory.
 */
const maxStreamsPerKey = 100;

/**
 * Creates an object that counts the open streams of one process, and that ends a stream when the API key of the stream
 * becomes invalid.
 *
 * @param onCount the function that is called with 1 when a stream opens, and with -1 when a stream ends
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
          'RATE_LIMIT_EXCEEDED',
          `API key may have at most ${maxStreamsPerKey} subscriptions open, please try again later`,
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
          // When an error occurs, the generator yields a result whose list `errors` contains this error. If the
          // generator threw the error instead, the library GraphQL Yoga would send the original error message to the
          // client.
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
        // This function ends the iterator `results` first. A call of `passed.return` alone cannot stop the generator
        // `passed` while it waits for a result.
        async return() {
          close(); // if the generator has not started yet, its `finally` block never runs
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
