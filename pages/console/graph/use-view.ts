import { useCallback, useEffect, useRef, useState } from 'react';
import { type AnyVariables, createRequest, type TypedDocumentNode, useQuery } from 'urql';
import { useKey } from './key-context.tsx';
import { type Failure, failureOf } from './failure.ts';

/** The data and the state of a query, which the hook `useView` returns to a view. */
export interface View<Data> {
  /**
   * The data from the last successful request. The view keeps its old data while a new request is running, and also if
   * the new request fails.
   */
  data: Data | undefined;
  failure: Failure | undefined;
  loading: boolean;
  /** Reads the data of the view from the gateway again. */
  reload(): void;
  /** The GraphQL document and the variables with which the view loads its data. */
  operation: ShownOperation;
}

/** A GraphQL operation and its variables, which a button can open in the explorer. */
export interface ShownOperation {
  document: TypedDocumentNode<unknown, never>;
  variables: Record<string, unknown>;
}

/**
 * Runs the GraphQL query of a console view. After a response with status 429, the query runs again as soon as the rate
 * limit allows it. After a network failure, the query runs again after a pause, or as soon as the device reports that
 * it is online. The pause before a retry becomes longer with each failed attempt.
 *
 * @param options.pause if true, the hook sends no query
 * @param options.onlyCurrent true, false, or a text that contains the name of a GraphQL variable. If `onlyCurrent` is
 *   true, the hook returns data and failures only for the current values of all variables. If `onlyCurrent` is false,
 *   the hook returns the data for the previous variables until the response for the current variables arrives. For
 *   example, a page of a list stays visible while the next page of the list is loading. If `onlyCurrent` is a text, the
 *   hook returns data and failures only for the current value of the named variable. The values of the other variables
 *   may be previous values.
 */
export function useView<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  options: { pause?: boolean; onlyCurrent?: boolean | (keyof Variables & string) } = {},
): View<Data> {
  const { pause = false, onlyCurrent = false } = options;
  const { refuseKey } = useKey();
  const [{ data: answer, error, fetching, operation }, execute] = useQuery({
    query: document,
    variables,
    pause,
    requestPolicy: 'cache-and-network',
  } as Parameters<typeof useQuery<Data, Variables>>[0]);
  const isCurrent =
    typeof onlyCurrent === 'string'
      ? operation?.variables?.[onlyCurrent] === variables?.[onlyCurrent]
      : !onlyCurrent || operation?.key === createRequest(document, variables).key;
  const data = (isCurrent && answer) || undefined; // `answer` is null when the gateway has rejected the query
  const [failure, setFailure] = useState<Failure>();
  const attempts = useRef(0);
  const reload = useCallback(() => execute({ requestPolicy: 'network-only' }), [execute]);

  useEffect(() => {
    if (!error) attempts.current = 0;
    setFailure(error && failureOf(error, attempts.current));
  }, [error]);
  useEffect(() => {
    if (failure?.kind === 'key-refused') refuseKey(failure.message);
    if (pause || (failure?.kind !== 'rate-limit' && failure?.kind !== 'offline')) return undefined;
    const retry = () => {
      attempts.current += 1;
      reload();
    };
    const timer = setTimeout(retry, Math.max(0, failure.retryAt - Date.now()));
    if (failure.kind === 'offline') addEventListener('online', retry);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', retry);
    };
  }, [failure, pause, reload, refuseKey]);

  return {
    data,
    failure: isCurrent ? failure : undefined,
    loading: fetching && data === undefined,
    reload,
    operation: {
      document: document as TypedDocumentNode<unknown, never>,
      variables: variables as Record<string, unknown>,
    },
  };
}
