import { useCallback, useRef, useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useMutation } from 'urql';
import { useKey } from './key-context.tsx';
import { type Failure, failureOf, isUncertain } from './failure.ts';

/** A mutation that a form sends, and its current state. */
export interface Change<Data, Variables> {
  /**
   * Sends the mutation. The returned promise resolves with the data of the mutation, or with `undefined` if the
   * mutation failed.
   */
  send(variables: Variables): Promise<Data | undefined>;
  sending: boolean;
  failure: Failure | undefined;
  /**
   * Removes the last error message from the form. If a mutation is still running when `clear` is called, and the
   * mutation fails later, the form does not show its error message.
   */
  clear(): void;
}

/**
 * Returns an object whose function `send` sends the mutation of a form. The object also contains the state of this
 * mutation. If the form has sent several mutations, the state shows a failure only of the last one.
 *
 * @param options.onUncertain a function that reads the changed data again. The hook calls `onUncertain` when the
 *   mutation has failed, but the gateway may nevertheless have made the change. The hook calls `onUncertain` even if
 *   the user has closed the form
 */
export function useChange<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  options: { onUncertain?: () => void } = {},
): Change<Data, Variables> {
  const { onUncertain } = options;
  const [{ fetching }, execute] = useMutation(document);
  const [failure, setFailure] = useState<Failure>();
  const latest = useRef<Variables>(undefined);
  const { refuseKey } = useKey();
  const send = useCallback(
    async (variables: Variables) => {
      latest.current = variables;
      const { data, error } = await execute(variables);
      const failed = error && failureOf(error);
      if (latest.current === variables) setFailure(failed);
      if (failed?.kind === 'key-refused') refuseKey(failed.message);
      if (isUncertain(failed)) onUncertain?.();
      return failed ? undefined : (data ?? undefined);
    },
    [execute, refuseKey, onUncertain],
  );
  const clear = useCallback(() => {
    latest.current = undefined;
    setFailure(undefined);
  }, []);
  return { send, sending: fetching, failure, clear };
}
