/** The name of the session storage item for the key. The item is deleted when the tab is closed. */
const sessionKeyName = 'parking-gateway:session-key';

/** The name of the local storage item for a key that the device remembers. The explorer also reads this item. */
const rememberedKeyName = 'parking-gateway:key';

/** Returns the key that this tab or this device stores. The text is empty when no key is stored. */
export const storedKey = (): string =>
  sessionStorage.getItem(sessionKeyName) ?? localStorage.getItem(rememberedKeyName) ?? '';

/** Stores a key for this tab. If the user asks for it, the key is also stored on this device. */
export function storeKey(key: string, remember: boolean): void {
  sessionStorage.setItem(sessionKeyName, key);
  if (remember) localStorage.setItem(rememberedKeyName, key);
  else localStorage.removeItem(rememberedKeyName);
}

/** Deletes the stored key on this device. */
export function forgetKey(): void {
  sessionStorage.removeItem(sessionKeyName);
  localStorage.removeItem(rememberedKeyName);
}

/** Whether this device stores a key. */
export const isRemembered = (): boolean => localStorage.getItem(rememberedKeyName) !== null;
