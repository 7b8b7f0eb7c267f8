import type { ExecutionResult } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';

/** The pauses between attempts to reconnect, in milliseconds. The fourth pause and all later pauses last 30 seconds. */
const reconnectDelaysMs = [1_000, 3_000, 10_000, 30_000];

/** The functions that a subscription calls with each result and at its end. */
interface Sink {
  next(result: ExecutionResult): void;
  complete(): void;
}

interface SubscriptionRequest {
  query: string;
  variables?: Record<string, unknown>;
}

/**
 * Returns the pause before the next attempt to subscribe, in milliseconds. Returns `undefined` if the gateway has
 * rejected the subscription permanently.
 */
async function delayAfter(error: unknown, attempt: number, sink: Sink): Promise<number | undefined> {
  const usual = reconnectDelaysMs[Math.min(attempt, reconnectDelaysMs.length - 1)]!;
  if (!(error instanceof NetworkError) || !error.response) return usual;
  const response = error.response as Response;
  if (response.status === 429) return (Number(response.headers.get('Retry-After')) || 10) * 1000;
  if (response.status >= 500) return usual;
  const refusal = (await response.json().catch(() => ({ errors: [] }))) as ExecutionResult;
  sink.next(refusal);
  return undefined;
}

/**
 * Waits for the given number of milliseconds. The wait ends early when the network becomes available again.
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
 * Creates subscriptions over server-sent events. When a stream breaks or ends, the client opens the stream again. The
 * client stops when the gateway rejects the subscription, or when the view closes it.
 *
 * @param currentKey a function that returns the API key, and that is called before each attempt to connect
 */
export function createLive(currentKey: () => string) {
  const client = createClient({
    url: '/graphql',
    headers: () => ({ 'X-API-Key': currentKey() }),
    // The retries of graphql-sse are switched off, because each rejected attempt costs a rate limit point. The function
    // `run` replaces the retries of graphql-sse: it subscribes again after a pause.
    retryAttempts: 0,
  });

  async function run({ query, variables }: SubscriptionRequest, sink: Sink, signal: AbortSignal) {
    let attempt = 0;
    while (!signal.aborted) {
      const results = client.iterate<Record<string, unknown>, Record<string, unknown>>({
        query,
        ...(variables && { variables }),
      });
      const stop = () => void results.return?.();
      signal.addEventListener('abort', stop);
      try {
        for await (const result of results) {
          attempt = 0;
          sink.next(result as ExecutionResult);
          if (result.errors) return;
        }
        await pause(reconnectDelaysMs[0]!, signal);
      } catch (error) {
        const delayMs = await delayAfter(error, attempt, sink);
        if (delayMs === undefined) return;
        attempt += 1;
        await pause(delayMs, signal);
      } finally {
        signal.removeEventListener('abort', stop);
      }
    }
  }

  return {
    /** Subscribes to live updates. Returns a function that ends the subscription. */
    subscribe(request: SubscriptionRequest, sink: Sink): () => void {
      const ending = new AbortController();
      void run(request, sink, ending.signal).finally(() => sink.complete());
      return () => ending.abort();
    },
  };
}
