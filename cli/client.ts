import { setTimeout as sleep } from 'node:timers/promises';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { Failure } from './failure.ts';
import { failureOf, fetchFromGateway, type GraphError, pauseAfter, reasonOf } from './gateway-fetch.ts';

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

interface Answer<Data> {
  data?: Data;
  errors?: GraphError[];
}

/** Where the gateway is, and who asks. */
export interface GatewayOptions {
  url: string;
  key: string;
  /** Is told why, and for how many seconds, an operation waits. */
  onWait: (reason: string, seconds: number) => void;
}

/** Creates a client. */
export function createClient({ url, key, onWait }: GatewayOptions): Client {
  const address = new URL('/graphql', url);
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key };
  // A gateway that never answered is not there, or not at this address: to try again would only hide it.
  let hasWorked = false;

  /** Sends an operation once; a failure is temporary when sending it again may help. */
  async function send<Data>(body: string): Promise<{ answer: Answer<Data>; response: Response }> {
    let response: Response;
    let text: string;
    try {
      response = await fetchFromGateway(address, { method: 'POST', headers, body });
      text = await response.text();
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure(
        `No answer from ${address.origin} (${reasonOf(error)}). Is the gateway running there?`,
        undefined,
        { temporary: true },
      );
    }
    let answer: Answer<Data>;
    try {
      answer = JSON.parse(text) as Answer<Data>;
    } catch {
      throw new Failure(
        `${address.href} does not answer as a gateway does (status ${response.status}, no JSON). Is the address right?`,
        undefined,
        { temporary: response.status >= 500 },
      );
    }
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
          hasWorked = true;
          if (response.status === 429) {
            const seconds = Number(response.headers.get('Retry-After') ?? 1);
            onWait('The rate limit of the key is reached', seconds);
            await sleep(seconds * 1000);
            continue;
          }
          if (answer.errors || !answer.data) {
            throw failureOf(answer.errors ?? [{ message: 'The answer has no data' }], response);
          }
          return answer.data as Answered<Data>;
        } catch (error) {
          const mayHelp = error instanceof Failure && error.temporary && repeatable && hasWorked;
          if (!mayHelp || failures === maxRetries) throw error;
          failures += 1;
          onWait(error.message, pauseAfter(failures));
          await sleep(pauseAfter(failures) * 1000);
        }
      }
    },
  };
}
