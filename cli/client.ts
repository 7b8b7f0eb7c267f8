import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { type Connection, jsonType } from './connection.ts';
import {
  failureOf,
  type GraphError,
  isGatewayFailure,
  notGateway,
  unexplainedFailure,
} from './gateway-fetch.ts';

/** A client that sends GraphQL operations to a gateway over HTTP. */
export interface Client {
  /**
   * Runs a GraphQL operation. If the gateway refuses the operation because of a limit, the client waits for the time in
   * the response header `Retry-After` and sends the operation again.
   *
   * @param options.repeatable whether the gateway may execute the operation twice without harm. When the gateway fails
   *   or becomes unreachable, the client sends a repeatable operation again a few times. The client retries an
   *   operation only if the gateway has answered an earlier request
   * @param options.stopping an AbortSignal that ends the pause before a retry; `run` then throws an AbortError
   * @throws {Failure} when the gateway returns an error. The `Failure` contains the error message of the gateway
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
 * The data of a GraphQL response that contains no errors. If a GraphQL response contains no errors, no root field of
 * the operation is null, so this type excludes null.
 */
export type Answered<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> };

/** The body of a GraphQL response. */
export interface GraphAnswer<Data> {
  data?: Data;
  errors?: GraphError[];
}

/**
 * Whether a body has the form of a GraphQL response (https://spec.graphql.org/October2021/#sec-Response-Format). A
 * server other than the gateway, such as a proxy, can also send JSON with a member `errors`. In the JSON of a server
 * other than the gateway, the member `errors` is not a list of GraphQL errors.
 */
function isGraphAnswer<Data>(body: unknown): body is GraphAnswer<Data> {
  if (typeof body !== 'object' || body === null) return false;
  const { errors } = body as { errors?: unknown };
  if (errors === undefined || errors === null) return 'data' in body;
  return (
    Array.isArray(errors) &&
    errors.every((error: Partial<GraphError> | null) => typeof error?.message === 'string')
  );
}

/**
 * Sends a GraphQL operation once, and returns the response with or without GraphQL errors.
 *
 * @param operation the GraphQL document and its variables
 * @throws {Failure} when the gateway fails, or when the response is not a GraphQL response. If a retry may succeed, the
 *   property `temporary` of the `Failure` is true
 */
export async function sendOperation<Data>(
  connection: Connection,
  operation: { query: string; variables: unknown },
  stopping?: AbortSignal,
): Promise<{ answer: GraphAnswer<Data>; response: Response }> {
  const { body: answer, response } = await connection.send(
    '/graphql',
    { method: 'POST', headers: jsonType, body: JSON.stringify(operation) },
    stopping,
  );
  if (isGatewayFailure(response)) {
    const errors = isGraphAnswer<Data>(answer) ? answer.errors : undefined;
    throw failureOf(errors ?? unexplainedFailure, response);
  }
  if (!isGraphAnswer<Data>(answer))
    throw notGateway(response.url, `status ${response.status} with JSON that is not a GraphQL response`);
  return { answer, response };
}

/** Creates a client that runs GraphQL operations over one connection. */
export function createClient(connection: Connection): Client {
  return {
    async run<Data, Variables>(
      document: TypedDocumentNode<Data, Variables>,
      variables: Variables,
      { repeatable = false, stopping }: RunOptions = {},
    ): Promise<Answered<Data>> {
      const operation = { query: print(document), variables };
      const request = async () => {
        const { answer, response } = await sendOperation<Data>(connection, operation, stopping);
        if (answer.errors || !answer.data) {
          throw failureOf(answer.errors ?? [{ message: 'The answer has no data' }], response);
        }
        return answer.data as Answered<Data>;
      };
      return repeatable ? connection.repeat(request, stopping) : request();
    },
  };
}
