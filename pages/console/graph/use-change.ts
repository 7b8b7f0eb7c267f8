import { useCallback, useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useMutation } from 'urql';
import { useKey } from './key-context.tsx';
import { type Failure, failureOf } from './failure.ts';

/** A mutation that a form sends, and its current state. */
export interface Change<Data, Variables> {
  /** Sends the mutation. The promise resolves with the data, or with undefined when the mutation failed. */
  send(variables: Variables): Promise<Data | undefined>;
  sending: boolean;
  failure: Failure | undefined;
  /** Removes the message about the last failure from the form. */
  clear(): void;
}

/** Prepares a mutation that a form can send. */
export function useChange<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
): Change<Data, Variables> {
  const [{ fetching }, execute] = useMutation(document);
  const [failure, setFailure] = useState<Failure>();
  const { refuseKey } = useKey();
  const send = useCallback(
    async (variables: Variables) => {
      const { data, error } = await execute(variables);
      const failed = error && failureOf(error);
      setFailure(failed);
      if (failed?.kind === 'key-refused') refuseKey(failed.message);
      return failed ? undefined : (data ?? undefined);
    },
    [execute, refuseKey],
  );
  const clear = useCallback(() => setFailure(undefined), []);
  return { send, sending: fetching, failure, clear };
}
