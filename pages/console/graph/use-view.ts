import { useCallback, useEffect, useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql';
import { useKey } from './key-context.tsx';
import { type Failure, failureOf } from './failure.ts';

/** The state of a query that a view shows. */
export interface View<Data> {
  /** The data that was last read. It stays available during a refresh and after a failure. */
  data: Data | undefined;
  failure: Failure | undefined;
  loading: boolean;
  /** Reads the data from the gateway again. */
  reload(): void;
  /** The document and the variables of the query, for opening it in the explorer. */
  operation: ShownOperation;
}

/** An operation with its variables that a button can open in the explorer. */
export interface ShownOperation {
  document: TypedDocumentNode<unknown, never>;
  variables: Record<string, unknown>;
}

/**
 * Runs the query of a view. After a response with status 429, the query runs again as soon as the rate limit allows it.
 * After a network failure, it runs again as soon as the network is available.
 *
 * @param options.pause whether the query does not run
 * @param options.refreshMs the interval in milliseconds between runs while the page is visible
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
  const data = answer ?? undefined; // null: the query was rejected
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
