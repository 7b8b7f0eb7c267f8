/** The path of the graph. */
export const graphPath = '/graphql';

/** An operation as a request to the graph has it. */
interface GraphRequest {
  query: string;
  variables?: unknown;
  operationName?: string | null | undefined;
}

/** The header of a key; none without a key. */
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
