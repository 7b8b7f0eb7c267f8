/** @jsxImportSource react */
import { useCallback, useMemo, useState } from 'react';
import { I18nProvider } from 'react-aria-components';
import { Provider } from 'urql';
import { createGraphClient } from './graph/client.ts';
import { KeyContext, type ConsoleKey } from './graph/key-context.tsx';
import { forgetKey, storedKey, storeKey } from './graph/key-store.ts';
import type { ViewerQuery } from './generated/operations.ts';
import { KeyForm } from './key-form.tsx';
import { Shell } from './shell.tsx';

/** The API key of the user, after the gateway has accepted it. */
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
  const [refusal, setRefusal] = useState<string>();
  const refuseKey = useCallback((message: string) => {
    forgetKey();
    setOpened(undefined);
    setRefusal(message);
  }, []);
  const client = useMemo(() => opened && createGraphClient(opened.secret), [opened]);
  const key = useMemo((): ConsoleKey | undefined => {
    if (!opened) return undefined;
    const { viewer } = opened;
    return {
      viewer,
      may: (...permissions) => permissions.every((permission) => viewer.permissions.includes(permission)),
      refuseKey,
      leave() {
        forgetKey();
        setRefusal(undefined);
        setOpened(undefined);
      },
    };
  }, [opened, refuseKey]);

  return (
    <I18nProvider locale="en-GB">
      {client && key ? (
        <Provider value={client}>
          <KeyContext value={key}>
            <Shell />
          </KeyContext>
        </Provider>
      ) : (
        <KeyForm
          first={storedKey()}
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
