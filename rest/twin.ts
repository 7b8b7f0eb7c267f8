import { print } from 'graphql';
import type { PreparedOperation } from '../src/graphql/executor.ts';
import type { Variables } from '../src/graphql/operation-plan.ts';
import type { Answer } from '../src/http/responses/response.ts';

/** The media type of a response that contains a GraphQL request. A client can post the response body to `/graphql`. */
export const twinMediaType = 'application/graphql-request+json';

/**
 * Creates the function that converts a REST request to the equivalent GraphQL request. A client needs no permission to
 * get the equivalent GraphQL request. The gateway only returns the GraphQL request, and does not execute it. The
 * GraphQL documents of the REST routes are not secret.
 */
export function createTwin({ plan }: PreparedOperation): (variables: Variables) => Answer {
  const query = print(plan.document);
  const operationName = plan.operation.name?.value;
  return (variables) => ({
    status: 200,
    body: JSON.stringify({ query, operationName, variables }),
    headers: { 'Content-Type': twinMediaType, Vary: 'Accept, Accept-Encoding' },
  });
}
