import { print } from 'graphql';
import type { PreparedOperation } from '../src/graphql/executor.ts';
import type { Variables } from '../src/graphql/operation-plan.ts';
import type { Answer } from '../src/http/responses/response.ts';

/** The media type of a GraphQL request, ready to be posted to `/graphql`. */
export const twinMediaType = 'application/graphql-request+json';

/**
 * Creates the function that answers a REST request with its twin, the equivalent GraphQL request. Nothing is executed,
 * so no permission is needed: the documents of the endpoints are public.
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
