/**
 * The relative path from a page to the GraphQL endpoint. The path is relative, so that the page also works behind a
 * proxy that serves the gateway under a path.
 */
export const graphPath = './graphql';

/** The body of a GraphQL request. */
interface GraphRequest {
  query: string;
  variables?: unknown;
  operationName?: string | null | undefined;
}

/**
 * Returns the request header that contains the API key, or no header if the API key is an empty text. The function
 * replaces non-ASCII characters with `?`, because the browser cannot send non-ASCII characters in a header. A valid API
 * key contains only ASCII characters, so the gateway rejects an API key in which the function replaced a character.
 */
export const keyHeader = (key: string): Record<string, string> =>
  key ? { 'X-API-Key': key.replace(/[^\x20-\x7e]/g, '?') } : {};

/** Sends a GraphQL operation to the gateway and returns its result. */
export async function post<Result>(request: GraphRequest, key: string): Promise<Result> {
  const response = await fetch(graphPath, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...keyHeader(key) },
    body: JSON.stringify(request),
  });
  return (await response.json()) as Result;
}
