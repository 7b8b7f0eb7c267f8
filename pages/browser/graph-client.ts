import type { Fetcher, FetcherParams } from '@graphiql/toolkit';
import { type ExecutionResult, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { createClient, NetworkError } from 'graphql-sse';
import type { ExampleValues } from './example-variables.ts';
import { graphPath, keyHeader, post } from './post.ts';

/** Whether the key field of the page contains an API key, and whether the gateway accepts this key. */
export type KeyState =
  | { kind: 'none' }
  | { kind: 'valid'; name: string; exampleValues: ExampleValues | undefined }
  | { kind: 'refused'; message: string };

/**
 * Creates the function that runs GraphQL operations with the API key in the key field of the page. The function sends
 * queries and mutations with POST, and reads the results of a subscription as server-sent events.
 */
export function createFetcher(currentKey: () => string): Fetcher {
  const events = createClient({
    url: graphPath,
    headers: () => keyHeader(currentKey()),
    retryAttempts: 0, // no retries, because each rejected request costs a rate limit point
  });

  function subscribe({
    query,
    operationName,
    variables,
  }: FetcherParams): AsyncIterableIterator<ExecutionResult> {
    const results = events.iterate<Record<string, unknown>, Record<string, unknown>>({
      query,
      operationName: operationName ?? undefined,
      variables: variables as Record<string, unknown> | undefined,
    });
    return {
      next: () =>
        results.next().catch(async (error: unknown) => {
          // When the gateway rejects a subscription, the response is JSON and not an event stream. The GraphQL client
          // returns this JSON as the next result of the subscription.
          if (!(error instanceof NetworkError) || !error.response) throw error;
          return { done: false, value: (await (error.response as Response).json()) as ExecutionResult };
        }),
      // The function `return` of the iterator closes the subscription's stream immediately. The function `subscribe` is
      // not an async generator, because an async generator would wait for the next result before it closes the stream.
      return: () => results.return!(undefined),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  return (params) => {
    const operation = operationOf(params);
    const named = { ...params, operationName: operation?.name?.value };
    return operation?.operation === 'subscription'
      ? subscribe(named)
      : post<ExecutionResult>(named, currentKey());
  };
}

/**
 * Returns the operation that the user wants to run. If the document has no operation with the name `operationName`, the
 * function returns the first operation. For example, just after the user has switched to another tab, GraphiQL still
 * passes the operation name of the previous tab.
 */
function operationOf({ query, operationName }: FetcherParams): OperationDefinitionNode | undefined {
  try {
    const operations = parse(query).definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    return operations.find(({ name }) => name?.value === operationName) ?? operations[0];
  } catch {
    return undefined; // the gateway will report the syntax error in the document
  }
}

interface Viewer {
  name: string;
  permissions: string[];
  locationIds: string[];
}

/**
 * Asks the gateway for the name of an API key. The function also returns example values that the explorer can fill into
 * operations. The example values are a location in the scope of the API key, and a plate at this location.
 */
export async function lookUpKey(key: string): Promise<KeyState> {
  if (!key) return { kind: 'none' };
  const { data, errors } = await post<ExecutionResult>(
    { query: '{ viewer { name permissions locationIds } }' },
    key,
  );
  const viewer = data?.viewer as Viewer | undefined;
  if (!viewer) return { kind: 'refused', message: errors?.[0]?.message ?? 'The key was refused' };
  const may = (permission: string) => viewer.permissions.includes(permission);
  const locationId = viewer.locationIds[0] ?? (await firstLocation(key, may));
  if (!locationId) return { kind: 'valid', name: viewer.name, exampleValues: undefined };
  const plate = may('READ_WHITELIST') ? await firstPlate(key, locationId) : undefined;
  return { kind: 'valid', name: viewer.name, exampleValues: { locationId, ...(plate && { plate }) } };
}

async function firstLocation(key: string, may: (permission: string) => boolean) {
  if (may('READ_LOCATIONS')) {
    const { data } = await post<ExecutionResult>({ query: '{ locations(first: 1) { nodes { id } } }' }, key);
    return (data?.locations as { nodes: { id: string }[] } | undefined)?.nodes[0]?.id;
  }
  if (!may('READ_STATUS')) return undefined;
  const { data } = await post<ExecutionResult>({ query: '{ locationStatuses { locationId } }' }, key);
  return (data?.locationStatuses as { locationId: string }[] | undefined)?.[0]?.locationId;
}

async function firstPlate(key: string, locationId: string) {
  const query = `query ($locationId: ID!) {
    whitelist(locationId: $locationId, first: 1) { nodes { plateType plateCode plateNumber } }
  }`;
  const { data } = await post<ExecutionResult>({ query, variables: { locationId } }, key);
  return (data?.whitelist as { nodes: NonNullable<ExampleValues['plate']>[] } | undefined)?.nodes[0];
}
