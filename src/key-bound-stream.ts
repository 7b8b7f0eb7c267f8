import type { ExecutionResult, GraphQLError } from 'graphql';

/** What keeps a stream of results open. */
export interface StreamLease {
  /** Rejects when the key of the request no longer opens the service. */
  reauthenticate(): Promise<unknown>;
  /** Calls a listener when keys have changed, until the returned function is called. */
  onKeysChanged(listener: () => void): () => void;
  /** Ends the stream when the process stops. */
  stopping: AbortSignal;
}

/** How often a key is looked at when no notice comes: it may have expired, in milliseconds. */
const checkedEvery = 5_000;

/**
 * Passes the results of a subscription on as long as its key opens the service; then says why it does not,
 * and ends. Nothing is sent after a revocation that this process knows of.
 */
export function boundToKey(
  results: AsyncIterableIterator<ExecutionResult>,
  { reauthenticate, onKeysChanged, stopping }: StreamLease,
): AsyncIterableIterator<ExecutionResult> {
  let refusal: GraphQLError | undefined;
  const end = async () => void (await results.return?.());
  const check = () =>
    reauthenticate().catch(async (error: GraphQLError) => {
      refusal = error;
      await end();
    });

  async function* passOn(): AsyncGenerator<ExecutionResult> {
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
}
