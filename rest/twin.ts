import { print } from 'graphql';
import type { PreparedOperation } from '../src/graphql/executor.ts';
import type { Variables } from '../src/graphql/operation-plan.ts';
import type { Answer } from '../src/http/responses/response.ts';

/** The media type of a GraphQL request that can be posted to `/graphql` unchanged. */
export const twinMediaType = 'application/graphql-request+json';

/**
 * Creates the function that returns the GraphQL request (the twin) which is equivalent to a REST request. The request
 * is not executed, so the client needs no permission. The documents are not secret.
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
