import { useEffect, useSyncExternalStore } from 'react';
import { type AnyVariables, createRequest, type TypedDocumentNode, useSubscription } from 'urql';
import { failureOf } from './failure.ts';
import { useKey } from './key-context.tsx';
import type { LiveState } from './live.ts';

/**
 * Subscribes to the live updates for a view of the console. Returns the data of the latest update, and whether the
 * console still receives updates. If the gateway no longer accepts the API key, the console shows the form for the API
 * key.
 *
 * @param options.pause if true, the hook does not subscribe
 * @param options.onNext a function that the hook calls with the data of each update, including the first update
 */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause, onNext }: { pause: boolean; onNext?: ((data: Data) => void) | undefined },
): { data: Data | undefined; state: LiveState } {
  const { connection, refuseKey } = useKey();
  const request = { query, variables, pause } as Parameters<typeof useSubscription<Data, Data, Variables>>[0];
  const [{ data, error }] = useSubscription<Data, Data, Variables>(request, (_, next) => {
    onNext?.(next);
    return next;
  });
  useEffect(() => {
    const failure = error && failureOf(error);
    if (failure?.kind === 'key-refused') refuseKey(failure.message);
  }, [error, refuseKey]);
  const { key } = createRequest(query, variables);
  const state = useSyncExternalStore(connection.onChange, () => connection.state(key));
  return { data, state: pause ? undefined : state };
}
