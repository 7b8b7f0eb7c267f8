/** @jsxImportSource react */
import { createContext, useContext } from 'react';
import type { Permission, ViewerQuery } from '../generated/operations.ts';

/** The key that the console uses now. */
export interface ConsoleKey {
  viewer: NonNullable<ViewerQuery['viewer']>;
  /** Whether the key has all given permissions. */
  may(...permissions: Permission[]): boolean;
  /** Returns to the key form, after the gateway has rejected the key. */
  refuseKey(message: string): void;
  /** Returns to the key form and deletes the stored key. */
  leave(): void;
}

export const KeyContext = createContext<ConsoleKey | undefined>(undefined);

/** Returns the key of the console. The hook works only in components below the key form. */
export function useKey(): ConsoleKey {
  const key = useContext(KeyContext);
  if (!key) throw new Error('The console has no key here');
  return key;
}
