import type { ExecutionResult } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';

/** The pauses between attempts to reconnect, in milliseconds. The last pause is repeated. */
const reconnectDelaysMs = [1_000, 3_000, 10_000, 30_000];

/** The object that receives the results of a subscription. */
interface Sink {
  next(result: ExecutionResult): void;
  complete(): void;
}

interface SubscriptionRequest {
  query: string;
  variables?: Record<string, unknown>;
}

/**
 * Returns how long to wait before the next attempt to subscribe. The result is undefined when the gateway has rejected
 * the subscription permanently.
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

/** Waits for some time. The wait ends earlier when the network is available again. */
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
 * Creates subscriptions over server-sent events. When a stream breaks or ends, it is opened again, until the gateway
 * rejects it or the view closes it.
 *
 * @param currentKey returns the API key for each attempt
 */
export function createLive(currentKey: () => string) {
  const client = createClient({
    url: '/graphql',
    headers: () => ({ 'X-API-Key': currentKey() }),
    // Retries of the library are switched off, and this file retries itself. Each rejected attempt costs a rate limit
    // point.
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
