import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';
import type { Answered } from './client.ts';
import { Failure } from './failure.ts';
import { failureOf, fetchFromGateway, type GraphError, reasonOf } from './gateway-fetch.ts';

/** Opens subscriptions of the graph over server-sent events. */
export interface Subscriber {
  /**
   * The results of a subscription, until the stream ends.
   *
   * @param onConnected is called when the stream is open: from then on no result is missed
   * @throws {Failure} that is temporary when the stream broke, ended, or could not be opened now
   */
  results<Data, Variables extends Record<string, unknown>>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    onConnected?: () => void,
  ): AsyncGenerator<Answered<Data>>;
}

/** A gateway writes to an open stream every 12 seconds; after this time without a byte the line is dead. */
const maxSilenceMs = 40_000;

/** Passes a stream on, and breaks it off when nothing comes for too long. */
function breakOffWhenSilent(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let timer: NodeJS.Timeout;
  const watch = (controller: TransformStreamDefaultController<Uint8Array>) => {
    clearTimeout(timer);
    const silence = new Error(`nothing came for ${maxSilenceMs / 1000} seconds`);
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

/** Creates what opens subscriptions at a gateway. */
export function createSubscriber({ url, key }: { url: string; key: string }): Subscriber {
  const address = new URL('/graphql', url);

  return {
    async *results<Data, Variables extends Record<string, unknown>>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
      onConnected?: () => void,
    ): AsyncGenerator<Answered<Data>> {
      const broken = (reason: string) =>
        new Failure(`The stream from ${address.origin} broke off (${reason})`, undefined, {
          temporary: true,
        });
      let refusal: Failure | undefined;
      const sse = createClient({
        url: address.href,
        headers: { 'X-API-Key': key },
        retryAttempts: 0,
        fetchFn: async (_: string, init: RequestInit) => {
          try {
            const { signal = null } = init; // in place of a time limit: a stream stays open
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
        const status = error instanceof NetworkError ? error.response?.status : undefined;
        const isFinal = status !== undefined && status >= 400 && status < 500 && status !== 429;
        if (isFinal) throw new Failure(`${address.origin} refuses the stream with status ${status}`);
        throw broken(reasonOf(error));
      } finally {
        sse.dispose();
      }
      throw broken('the gateway ended it');
    },
  };
}
