/** @jsxImportSource react */
import { createContext, useContext } from 'react';
import type { Permission, ViewerQuery } from '../generated/operations.ts';

/** The current key of the console. */
export interface ConsoleKey {
  viewer: NonNullable<ViewerQuery['viewer']>;
  /** Whether the key has all given permissions. */
  may(...permissions: Permission[]): boolean;
  /** Returns to the key form, after the gateway has rejected the key. */
  refuseKey(message: string): void;
  /** Returns to the key form and forgets the key. */
  leave(): void;
}

export const KeyContext = createContext<ConsoleKey | undefined>(undefined);

/** The key of the console; only below the form that asks for it. */
export function useKey(): ConsoleKey {
  const key = useContext(KeyContext);
  if (!key) throw new Error('The console has no key here');
  return key;
}
