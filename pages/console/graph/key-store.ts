/** The name of the session storage item for the API key. Browsers delete the item when the tab is closed. */
const sessionKeyName = 'parking-gateway:session-key';

/** The name of the local storage item for an API key that the device remembers. The explorer uses the same item. */
const rememberedKeyName = 'parking-gateway:key';

/** Returns the API key that is stored for this tab or on this device. The text is empty when no key is stored. */
export const storedKey = (): string =>
  sessionStorage.getItem(sessionKeyName) ?? localStorage.getItem(rememberedKeyName) ?? '';

/** Stores an API key for this tab, and on this device if the user wants it. */
export function storeKey(key: string, remember: boolean): void {
  sessionStorage.setItem(sessionKeyName, key);
  if (remember) localStorage.setItem(rememberedKeyName, key);
  else localStorage.removeItem(rememberedKeyName);
}

/** Deletes the API key that is stored on this device. */
export function forgetKey(): void {
  sessionStorage.removeItem(sessionKeyName);
  localStorage.removeItem(rememberedKeyName);
}

/** Whether an API key is stored on this device. */
export const isRemembered = (): boolean => localStorage.getItem(rememberedKeyName) !== null;
