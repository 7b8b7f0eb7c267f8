import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';
import type { Answered } from './client.ts';
import { Failure } from './failure.ts';
import {
  failureOf,
  fetchFromGateway,
  type GraphError,
  reasonOf,
  retryAfterSeconds,
} from './gateway-fetch.ts';
import { requestUrl } from './gateway-url.ts';

/** Opens GraphQL subscriptions as streams of server-sent events. */
export interface Subscriber {
  /**
   * Yields the results of a subscription until the stream ends.
   *
   * @param options.onConnected a function that is called as soon as the stream is open. After the call of
   *   `onConnected`, the stream delivers every new result of the subscription
   * @param options.signal an AbortSignal that ends the stream. When `signal` aborts, the function throws the same
   *   temporary `Failure` as after the loss of the connection
   * @throws {Failure} when the stream cannot be opened, breaks or ends. If a retry may succeed, the `Failure` is
   *   temporary
   */
  results<Data, Variables extends Record<string, unknown>>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    options?: StreamOptions,
  ): AsyncGenerator<Answered<Data>>;
}

/** The options for opening a subscription. */
interface StreamOptions {
  onConnected?: () => void;
  signal?: AbortSignal;
}

/**
 * If a stream delivers no data for `maxSilenceMs` milliseconds, `pms` treats the connection as lost. A working gateway
 * writes to an open stream at least every 12 seconds.
 */
const maxSilenceMs = 40_000;

/**
 * Returns a stream with the same data as the stream `body`. The returned stream fails if `body` has delivered no data
 * for `maxSilenceMs` milliseconds.
 */
function breakOffWhenSilent(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let timer: NodeJS.Timeout;
  const watch = (controller: TransformStreamDefaultController<Uint8Array>) => {
    clearTimeout(timer);
    const silence = new Error(`no data for ${maxSilenceMs / 1000} seconds`);
    timer = setTimeout(() => controller.error(silence), maxSilenceMs).unref();
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: watch,
      transform(chunk, controller) {
        watch(controller);
        controller.enqueue(chunk);
      },
      flush: () => clearTimeout(timer),
    }),
  );
}

/** Creates the object that opens GraphQL subscriptions at a gateway. */
export function createSubscriber({ url, key }: { url: string; key: string }): Subscriber {
  const address = requestUrl(url, '/graphql');

  return {
    async *results<Data, Variables extends Record<string, unknown>>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
      { onConnected, signal }: StreamOptions = {},
    ): AsyncGenerator<Answered<Data>> {
      const broken = (reason: string) =>
        new Failure(`The stream from ${address.origin} was interrupted (${reason})`, undefined, {
          temporary: true,
        });
      let refusal: Failure | undefined;
      const sse = createClient({
        url: address.href,
        headers: { 'X-API-Key': key },
        retryAttempts: 0,
        fetchFn: async (_: string, init: RequestInit) => {
          try {
            // the response to a subscription stays open, so this request has no time limit
            const { signal = null } = init;
            const response = await fetchFromGateway(address, { ...init, signal });
            if (!response.body || !response.ok) return response;
            const { status, headers } = response;
            return new Response(breakOffWhenSilent(response.body), { status, headers });
          } catch (error) {
            if (error instanceof Failure) refusal = error;
            throw error;
          }
        },
      });
      const end = () => sse.dispose();
      signal?.addEventListener('abort', end);
      try {
        const request = { query: print(document), variables };
        const events = onConnected && { connected: onConnected };
        for await (const { data, errors } of sse.iterate(request, events)) {
          if (errors) throw failureOf(errors as readonly GraphError[]);
          yield data as Answered<Data>;
        }
      } catch (error) {
        if (error instanceof Failure) throw error;
        if (refusal) throw refusal;
        const response = error instanceof NetworkError ? (error.response as Response | undefined) : undefined;
        const status = response?.status;
        if (response && status === 429) {
          throw new Failure('The rate limit of the key is reached', undefined, {
            temporary: true,
            retryAfterSeconds: retryAfterSeconds(response),
          });
        }
        const isFinal = status !== undefined && status >= 400 && status < 500;
        if (isFinal) throw new Failure(`${address.origin} rejected the stream with status ${status}`);
        throw broken(reasonOf(error));
      } finally {
        signal?.removeEventListener('abort', end);
        sse.dispose();
      }
      throw broken('the gateway closed it');
    },
  };
}
