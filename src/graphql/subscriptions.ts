import type { ExecutionResult, GraphQLError } from 'graphql';
import type { AuthenticatedKey } from '../auth/key.ts';
import { ServiceError } from '../errors/error-table.ts';

/** What keeps a stream of results open. */
export interface StreamLease {
  key: AuthenticatedKey;
  /** Rejects when the key of the request no longer opens the service. */
  reauthenticate(): Promise<unknown>;
  /** Calls a listener when keys have changed, until the returned function is called. */
  onKeysChanged(listener: () => void): () => void;
  /** Ends the stream when the process stops. */
  stopping: AbortSignal;
}

/** The streams of results that are open, each as long as its key opens the service. */
export interface KeyBoundStreams {
  /**
   * Counts one more stream of a key, until the returned function is called.
   *
   * @throws {ServiceError} `VALIDATION_ERROR` when the key has as many as it may have
   */
  open(key: AuthenticatedKey): () => void;
  /**
   * Passes the results of a subscription on as long as its key opens the service; then says why it does not,
   * and ends. Nothing is sent after a revocation that this process knows of.
   *
   * @param close what `open` returned for the stream
   */
  bind(
    results: AsyncIterableIterator<ExecutionResult>,
    lease: StreamLease,
    close: () => void,
  ): AsyncIterableIterator<ExecutionResult>;
}

/** How often a key is checked when no notice comes: it may have expired. */
const checkIntervalMs = 5_000;
/** How many streams a key may have at one process: each costs memory for as long as it is open. */
const maxStreamsPerKey = 100;

/**
 * Creates the streams of one process.
 *
 * @param onCount is told when a stream is opened (1) and when it ends (-1)
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
        // A generator that waits for the next result is not interrupted by its own `return`: its source must end.
        async return() {
          close(); // a stream that was never read runs nothing of its own
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
