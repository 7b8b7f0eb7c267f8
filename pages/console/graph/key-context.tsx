/** @jsxImportSource react */
import { createContext, useContext } from 'react';
import type { Permission, ViewerQuery } from '../generated/operations.ts';

/** The API key with which the user has opened the console. */
export interface ConsoleKey {
  viewer: NonNullable<ViewerQuery['viewer']>;
  /** Whether the API key has all given permissions. */
  may(...permissions: Permission[]): boolean;
  /** Shows the form for the API key again, because the gateway has rejected the key. */
  refuseKey(message: string): void;
  /** Shows the form for the API key again and deletes the stored key. */
  leave(): void;
}

export const KeyContext = createContext<ConsoleKey | undefined>(undefined);

/** Returns the API key of the console. This hook works only in components that are shown after the key was accepted. */
export function useKey(): ConsoleKey {
  const key = useContext(KeyContext);
  if (!key) throw new Error('The console has no key here');
  return key;
}
