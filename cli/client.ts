import { setTimeout as sleep } from 'node:timers/promises';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { Failure } from './failure.ts';

/** Asks the graph of a gateway over HTTP. */
export interface Client {
  /**
   * Runs an operation. What the rate limit refuses is sent again when `Retry-After` is over.
   *
   * @param options.repeatable whether sending it twice does no harm: then it is also sent again, a few times,
   * when the gateway could not be reached or failed
   * @throws {Failure} with what the gateway said
   */
  run<Data, Variables>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    options?: { repeatable?: boolean },
  ): Promise<Data>;
}

/** The pauses before what failed is sent again, in seconds. */
const pauses = [1, 2, 4, 8, 16];

interface Answer<Data> {
  data?: Data;
  errors?: {
    message: string;
    extensions?: { code?: string; details?: { field?: string; value?: unknown } };
  }[];
}

/** What went wrong in words, with the field and the value that the gateway names. */
function failureOf({ errors = [] }: Answer<unknown>, response: Response): Failure {
  const lines = errors.map(({ message, extensions: { code, details } = {} }) =>
    [
      `${code ?? response.status}: ${message}`,
      ...(details?.field ? [`  field: ${details.field}`] : []),
      ...(details && 'value' in details ? [`  value: ${JSON.stringify(details.value)}`] : []),
    ].join('\n'),
  );
  const requestId = response.headers.get('X-Request-Id');
  return new Failure(
    [
      ...(lines.length > 0 ? lines : [`The gateway answered ${response.status}, which is not its way`]),
      ...(requestId ? [`  request: ${requestId}`] : []),
    ].join('\n'),
  );
}

/** What a failed connection says of its reason. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
}

/**
 * Creates a client.
 *
 * @param options.onWait is told why, and for how many seconds, an operation waits
 */
export function createClient(options: {
  url: string;
  key: string;
  onWait: (reason: string, seconds: number) => void;
}): Client {
  const { url, key, onWait } = options;
  const address = new URL('/graphql', url);

  return {
    async run<Data, Variables>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
      { repeatable = false }: { repeatable?: boolean } = {},
    ): Promise<Data> {
      const body = JSON.stringify({ query: print(document), variables });
      let failures = 0;
      for (;;) {
        let response: Response | undefined;
        let answer: Answer<Data> = {};
        let reason = '';
        try {
          response = await fetch(address, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
            body,
          });
          answer = (await response.json()) as Answer<Data>;
        } catch (error) {
          reason = reasonOf(error);
        }
        if (response?.status === 429) {
          const seconds = Number(response.headers.get('Retry-After') ?? 1);
          onWait('The rate limit of the key is reached', seconds);
          await sleep(seconds * 1000);
          continue;
        }
        const pause = pauses[failures];
        const hasFailed = !response || response.status >= 500 || reason !== '';
        if (hasFailed && repeatable && pause !== undefined) {
          failures += 1;
          onWait(reason ? `No answer from ${address.origin} (${reason})` : 'The gateway failed', pause);
          await sleep(pause * 1000);
          continue;
        }
        if (!response)
          throw new Failure(`No answer from ${address.origin} (${reason}). Is the gateway running there?`);
        if (answer.errors || !answer.data) throw failureOf(answer, response);
        return answer.data;
      }
    },
  };
}
