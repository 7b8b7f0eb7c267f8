/** The session storage item of the key, which ends with the tab. */
const sessionKeyName = 'parking-gateway:session-key';

/** The local storage item of a key that the device remembers; the explorer reads it, too. */
const rememberedKeyName = 'parking-gateway:key';

/** The stored key of this tab or this device; empty when there is none. */
export const storedKey = (): string =>
  sessionStorage.getItem(sessionKeyName) ?? localStorage.getItem(rememberedKeyName) ?? '';

/** Keeps a key for this tab, and on this device when the user asks for it. */
export function storeKey(key: string, remember: boolean): void {
  sessionStorage.setItem(sessionKeyName, key);
  if (remember) localStorage.setItem(rememberedKeyName, key);
  else localStorage.removeItem(rememberedKeyName);
}

/** Forgets the key on this device. */
export function forgetKey(): void {
  sessionStorage.removeItem(sessionKeyName);
  localStorage.removeItem(rememberedKeyName);
}

/** Whether this device remembers a key. */
export const isRemembered = (): boolean => localStorage.getItem(rememberedKeyName) !== null;
