import type { ExecutionResult, GraphQLError } from 'graphql';
import type { AuthenticatedKey } from './auth.ts';
import { ServiceError } from './errors.ts';

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
  /** Why a key may not have one more; undefined when it may. */
  refusal(key: AuthenticatedKey): ServiceError | undefined;
  /**
   * Passes the results of a subscription on as long as its key opens the service; then says why it does not,
   * and ends. Nothing is sent after a revocation that this process knows of.
   */
  bind(
    results: AsyncIterableIterator<ExecutionResult>,
    lease: StreamLease,
  ): AsyncIterableIterator<ExecutionResult>;
}

/** How often a key is looked at when no notice comes: it may have expired, in milliseconds. */
const checkedEvery = 5_000;
/** How many streams a key may have at one process: each costs memory for as long as it is open. */
const mostStreams = 100;

/** Creates the streams of one process. */
export function createKeyBoundStreams(): KeyBoundStreams {
  const openStreams = new Map<string, number>();

  function count(id: string, change: 1 | -1): void {
    const open = (openStreams.get(id) ?? 0) + change;
    if (open > 0) openStreams.set(id, open);
    else openStreams.delete(id);
  }

  return {
    refusal: ({ id }) =>
      (openStreams.get(id) ?? 0) < mostStreams
        ? undefined
        : new ServiceError(
            'VALIDATION_ERROR',
            `API key has ${mostStreams} subscriptions open, which is the most`,
          ),
    bind(results, { key, reauthenticate, onKeysChanged, stopping }) {
      let refusal: GraphQLError | undefined;
      const end = async () => void (await results.return?.());
      const check = () =>
        reauthenticate().catch(async (error: GraphQLError) => {
          refusal = error;
          await end();
        });

      async function* passOn(): AsyncGenerator<ExecutionResult> {
        count(key.id, 1);
        const ignoreKeys = onKeysChanged(() => void check());
        const timer = setInterval(() => void check(), checkedEvery);
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
          count(key.id, -1);
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
