import { useCallback, useEffect, useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql';
import { useKey } from './key-context.tsx';
import { type Failure, failureOf } from './failure.ts';

/** The state of a query that a view shows. */
export interface View<Data> {
  /** The data from the last successful request, even during a refresh and after a failed refresh. */
  data: Data | undefined;
  failure: Failure | undefined;
  loading: boolean;
  /** Reads the data of the view from the gateway again. */
  reload(): void;
  /**
   * The GraphQL document and variables with which the view loads its data. A button can open this operation in the
   * GraphQL explorer.
   */
  operation: ShownOperation;
}

/** A GraphQL operation and its variables, which a button can open in the explorer. */
export interface ShownOperation {
  document: TypedDocumentNode<unknown, never>;
  variables: Record<string, unknown>;
}

/**
 * Runs the query of a view. After a response with status 429, the query runs again as soon as the rate limit allows it.
 * After a network failure, the query runs again as soon as the network is available.
 *
 * @param options.pause if true, the hook sends no query
 * @param options.refreshMs how often the query runs again while the page is visible, in milliseconds
 */
export function useView<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  options: { pause?: boolean; refreshMs?: number } = {},
): View<Data> {
  const { pause = false, refreshMs } = options;
  const { refuseKey } = useKey();
  const [{ data: answer, error, fetching }, execute] = useQuery({
    query: document,
    variables,
    pause,
    requestPolicy: 'cache-and-network',
  } as Parameters<typeof useQuery<Data, Variables>>[0]);
  const data = answer ?? undefined; // `data` is null when the gateway has rejected the query
  const [failure, setFailure] = useState<Failure>();
  const reload = useCallback(() => execute({ requestPolicy: 'network-only' }), [execute]);

  useEffect(() => setFailure(error && failureOf(error)), [error]);
  useEffect(() => {
    if (failure?.kind === 'key-refused') refuseKey(failure.message);
    if (failure?.kind === 'rate-limit') {
      const timer = setTimeout(reload, Math.max(0, failure.retryAt - Date.now()));
      return () => clearTimeout(timer);
    }
    if (failure?.kind === 'offline') {
      addEventListener('online', reload);
      return () => removeEventListener('online', reload);
    }
    return undefined;
  }, [failure, reload, refuseKey]);
  useEffect(() => {
    if (!refreshMs || pause) return undefined;
    const timer = setInterval(() => {
      if (globalThis.document.visibilityState === 'visible') reload();
    }, refreshMs);
    return () => clearInterval(timer);
  }, [refreshMs, pause, reload]);

  return {
    data,
    failure,
    loading: fetching && data === undefined,
    reload,
    operation: {
      document: document as TypedDocumentNode<unknown, never>,
      variables: variables as Record<string, unknown>,
    },
  };
}
