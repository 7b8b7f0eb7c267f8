import { deviceStorage, rememberedKeyName, tabStorage } from '../../browser/storage.ts';

/**
 * The name of the session storage item that contains the API key. The browser deletes this item of the session storage
 * when the tab is closed.
 */
const sessionKeyName = 'parking-gateway:session-key';

/** Returns the API key that is stored for this tab or on this device, or an empty text if no API key is stored. */
export const storedKey = (): string =>
  tabStorage.getItem(sessionKeyName) ?? deviceStorage.getItem(rememberedKeyName) ?? '';

/**
 * Stores an API key for this browser tab. If `remember` is true, the function also stores the API key on this device.
 * If `remember` is false, the function deletes the API key from this device, unless the device remembers another key.
 */
export function storeKey(key: string, remember: boolean): void {
  tabStorage.setItem(sessionKeyName, key);
  if (remember) deviceStorage.setItem(rememberedKeyName, key);
  else if (isRemembered(key)) deviceStorage.removeItem(rememberedKeyName);
}

/**
 * Deletes the API key that is stored for this tab. The function also deletes the given API key from this device, unless
 * the device remembers another key.
 */
export function forgetKey(key: string): void {
  tabStorage.removeItem(sessionKeyName);
  if (isRemembered(key)) deviceStorage.removeItem(rememberedKeyName);
}

/** Whether this device remembers the given API key. */
export const isRemembered = (key: string): boolean => deviceStorage.getItem(rememberedKeyName) === key;
