import { setTimeout as sleep } from 'node:timers/promises';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { type Connection, type GatewayOptions, jsonType } from './connection.ts';
import { Failure } from './failure.ts';
import { failureOf, type GraphError, pauseAfter } from './gateway-fetch.ts';

/** Asks the graph of a gateway over HTTP. */
export interface Client {
  /**
   * Runs an operation. What the rate limit refuses is sent again when `Retry-After` is over.
   *
   * @param options.repeatable whether sending it twice does no harm: then it is also sent again, a few times,
   * when the gateway cannot be reached or fails after it has answered before
   * @throws {Failure} with what the gateway said
   */
  run<Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    options?: { repeatable?: boolean },
  ): Promise<Answered<Data>>;
}

/** The data of an operation without errors: root fields are null only together with an error. */
export type Answered<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> };

/** How often an operation is sent again after the gateway failed: for half a minute. */
const maxRetries = 5;

/** The body of an answer of the graph. */
export interface GraphAnswer<Data> {
  data?: Data;
  errors?: GraphError[];
}

/** Creates a client. */
export function createClient(connection: Connection, { onWait }: Pick<GatewayOptions, 'onWait'>): Client {
  /** Sends an operation once; a failure is temporary when sending it again may help. */
  async function send<Data>(body: string): Promise<{ answer: GraphAnswer<Data>; response: Response }> {
    const { body: answered, response } = await connection.send('/graphql', {
      method: 'POST',
      headers: jsonType,
      body,
    });
    const answer = answered as GraphAnswer<Data>;
    if (response.status >= 500) {
      const { message } = failureOf(answer.errors ?? [{ message: 'The gateway failed' }], response);
      throw new Failure(message, undefined, { temporary: true });
    }
    return { answer, response };
  }

  return {
    async run<Data, Variables>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
      { repeatable = false }: { repeatable?: boolean } = {},
    ): Promise<Answered<Data>> {
      const body = JSON.stringify({ query: print(document), variables });
      for (let failures = 0; ;) {
        try {
          const { answer, response } = await send<Data>(body);
          if (answer.errors || !answer.data) {
            throw failureOf(answer.errors ?? [{ message: 'The answer has no data' }], response);
          }
          return answer.data as Answered<Data>;
        } catch (error) {
          // A gateway that never answered is not there, or not at this address: to try again would only hide it.
          const mayHelp =
            error instanceof Failure && error.temporary && repeatable && connection.hasAnswered();
          if (!mayHelp || failures === maxRetries) throw error;
          failures += 1;
          onWait(error.message, pauseAfter(failures));
          await sleep(pauseAfter(failures) * 1000);
        }
      }
    },
  };
}
