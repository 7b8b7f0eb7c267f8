import { setTimeout as sleep } from 'node:timers/promises';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { type Connection, type GatewayOptions, jsonType } from './connection.ts';
import { Failure } from './failure.ts';
import { failureOf, type GraphError, notGateway, pauseOf } from './gateway-fetch.ts';

/** A client that sends GraphQL operations to a gateway over HTTP. */
export interface Client {
  /**
   * Runs a GraphQL operation. If the response has status 429, the client waits for the time in the header `Retry-After`
   * and sends the operation again.
   *
   * @param options.repeatable whether the operation may be executed twice without harm. The client retries a repeatable
   *   operation a few times when the gateway fails or becomes unreachable. The client does not retry as long as the
   *   gateway has not answered any request
   * @param options.stopping a signal that ends the pause before a retry. After the signal, the client throws an
   *   AbortError
   * @throws {Failure} with the error message of the gateway, when the gateway returns an error
   */
  run<Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    options?: RunOptions,
  ): Promise<Answered<Data>>;
}

interface RunOptions {
  repeatable?: boolean;
  stopping?: AbortSignal | undefined;
}

/**
 * The data in the response to a GraphQL operation without errors. This type excludes null, because a response without
 * errors has no root field that is null.
 */
export type Answered<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> };

/** The maximum number of retries after a failure of the gateway. All retries together take about half a minute. */
const maxRetries = 5;

/** The body of a GraphQL response. */
export interface GraphAnswer<Data> {
  data?: Data;
  errors?: GraphError[];
}

const isGraphAnswer = <Data>(body: unknown): body is GraphAnswer<Data> =>
  typeof body === 'object' && body !== null && ('data' in body || 'errors' in body);

/** Creates a client that runs GraphQL operations over one connection. */
export function createClient(connection: Connection, { onWait }: Pick<GatewayOptions, 'onWait'>): Client {
  /**
   * Sends a GraphQL operation once. If the gateway fails and a retry may succeed, the thrown `Failure` has
   * `temporary: true`.
   */
  async function send<Data>(
    body: string,
    stopping: AbortSignal | undefined,
  ): Promise<{ answer: GraphAnswer<Data>; response: Response }> {
    const { body: answer, response } = await connection.send(
      '/graphql',
      { method: 'POST', headers: jsonType, body },
      stopping,
    );
    if (response.status >= 500) {
      const errors = isGraphAnswer<Data>(answer) ? answer.errors : undefined;
      const failure = failureOf(errors ?? [{ message: 'The gateway failed; try again later' }], response);
      const { message, retryAfterSeconds } = failure;
      throw new Failure(message, undefined, { temporary: true, retryAfterSeconds });
    }
    if (!isGraphAnswer<Data>(answer))
      throw notGateway(response.url, `status ${response.status} with JSON that is not a GraphQL response`);
    return { answer, response };
  }

  return {
    async run<Data, Variables>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
      { repeatable = false, stopping }: RunOptions = {},
    ): Promise<Answered<Data>> {
      const body = JSON.stringify({ query: print(document), variables });
      for (let failures = 0; ;) {
        try {
          const { answer, response } = await send<Data>(body, stopping);
          if (answer.errors || !answer.data) {
            throw failureOf(answer.errors ?? [{ message: 'The answer has no data' }], response);
          }
          return answer.data as Answered<Data>;
        } catch (error) {
          // If the gateway has never answered a request, the address that the user gave is probably wrong. Retries
          // would only hide a wrong address from the user.
          const mayHelp =
            error instanceof Failure && error.temporary && repeatable && connection.hasAnswered();
          if (!mayHelp || failures === maxRetries) throw error;
          failures += 1;
          const seconds = pauseOf(error, failures);
          onWait(error.message, seconds);
          await sleep(seconds * 1000, undefined, { signal: stopping });
        }
      }
    },
  };
}
