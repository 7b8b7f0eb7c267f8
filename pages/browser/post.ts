/** The path of the GraphQL endpoint. */
export const graphPath = '/graphql';

/** The body of a GraphQL request. */
interface GraphRequest {
  query: string;
  variables?: unknown;
  operationName?: string | null | undefined;
}

/** Returns the request header with an API key. If the key is empty, there is no header. */
export const keyHeader = (key: string): Record<string, string> => (key ? { 'X-API-Key': key } : {});

/** Sends an operation and returns its result. */
export async function post<Result>(request: GraphRequest, key: string): Promise<Result> {
  const response = await fetch(graphPath, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...keyHeader(key) },
    body: JSON.stringify(request),
  });
  return (await response.json()) as Result;
}
