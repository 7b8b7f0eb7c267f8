/** @jsxImportSource react */
import { useMemo, useState } from 'react';
import { I18nProvider } from 'react-aria-components';
import { Provider } from 'urql';
import { createGraphClient } from './graph/client.ts';
import { KeyContext, type ConsoleKey } from './graph/key-context.tsx';
import { forgetKey, storedKey, storeKey } from './graph/key-store.ts';
import type { ViewerQuery } from './generated/operations.ts';
import { KeyForm } from './key-form.tsx';
import { Shell } from './shell.tsx';

/** The user's API key, which the gateway has accepted. */
interface OpenedKey {
  secret: string;
  viewer: NonNullable<ViewerQuery['viewer']>;
}

/**
 * The gateway's console. At first, the console shows a form for the API key. When the gateway has accepted the API key,
 * the console shows its views.
 */
export function Console() {
  const [opened, setOpened] = useState<OpenedKey>();
  const [first, setFirst] = useState(storedKey);
  const [refusal, setRefusal] = useState<string>();
  const graph = useMemo(() => opened && createGraphClient(opened.secret), [opened]);
  const key = useMemo((): ConsoleKey | undefined => {
    if (!opened || !graph) return undefined;
    const { viewer, secret } = opened;
    let isOpen = true;
    // The function `close` signs the user out and shows the form for the API key. The console creates a new function
    // `close` for each API key. For each API key, only the first call of `close` has an effect. A late response to a
    // request with an earlier API key therefore does not sign out a user who has entered a new API key. After a call of
    // `close`, the form for the API key is empty, even if another tab has stored an API key on this device.
    function close(message?: string) {
      if (!isOpen) return;
      isOpen = false;
      forgetKey(secret);
      setFirst('');
      setRefusal(message);
      setOpened(undefined);
    }
    return {
      viewer,
      connection: graph.connection,
      may: (...permissions) => permissions.every((permission) => viewer.permissions.includes(permission)),
      refuseKey: close,
      leave: () => close(),
    };
  }, [opened, graph]);

  return (
    <I18nProvider locale="en-GB">
      {graph && key ? (
        <Provider value={graph.client}>
          <KeyContext value={key}>
            <Shell />
          </KeyContext>
        </Provider>
      ) : (
        <KeyForm
          first={first}
          refusal={refusal}
          onOpen={(secret, viewer, remember) => {
            storeKey(secret, remember);
            setRefusal(undefined);
            setOpened({ secret, viewer });
          }}
        />
      )}
    </I18nProvider>
  );
}
