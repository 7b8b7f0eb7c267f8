/** @jsxImportSource react */
import { createContext, useContext } from 'react';
import type { Permission, ViewerQuery } from '../generated/operations.ts';
import type { LiveConnection } from './live.ts';

/** The API key with which the user has opened the console. */
export interface ConsoleKey {
  viewer: NonNullable<ViewerQuery['viewer']>;
  /** The state of the live updates to which the console has subscribed with the API key. */
  connection: LiveConnection;
  /** Returns whether the API key of the console has all permissions in the list `permissions`. */
  may(...permissions: Permission[]): boolean;
  /** Shows the form for the API key again after the gateway has rejected the key. */
  refuseKey(message: string): void;
  /** Deletes the stored API key and shows the form for the API key again. */
  leave(): void;
}

export const KeyContext = createContext<ConsoleKey | undefined>(undefined);

/**
 * Returns the API key that the console uses. The hook `useKey` works only in components that are shown after the
 * gateway has accepted the API key.
 */
export function useKey(): ConsoleKey {
  const key = useContext(KeyContext);
  if (!key) throw new Error('The console has no key here');
  return key;
}
