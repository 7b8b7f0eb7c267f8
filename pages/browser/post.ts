/**
 * The relative path from a page to the GraphQL endpoint. Some proxies publish the gateway under a path, such as
 * `/parking/`. The page also works behind such a proxy, because this path is relative.
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
 * replaces non-ASCII characters with `?`, because the browser cannot send non-ASCII characters in a header. The gateway
 * rejects the changed API key, because a valid API key contains only ASCII characters and therefore stays unchanged.
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
