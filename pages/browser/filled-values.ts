import type { FilledValues } from './example-variables.ts';
import { deviceStorage } from './storage.ts';

/** The name of the local storage item that contains, for each tab, the values that the explorer filled in. */
const storedValuesName = 'parking-gateway:filled-values';

/**
 * Returns a map from the identifier of each tab to the values that the explorer last filled into the tab. GraphiQL
 * stores the text of each tab, including the filled values. After a reload of the page, the explorer recognises the
 * filled values with this map. The explorer can then replace the filled values without changing values that the user
 * has written.
 */
export function loadFilledValues(): Map<string, FilledValues> {
  try {
    const stored: unknown = JSON.parse(deviceStorage.getItem(storedValuesName) ?? '{}');
    return new Map(Object.entries((stored ?? {}) as Record<string, FilledValues>));
  } catch {
    // If the text in the local storage is damaged, the function returns an empty map. With an empty map, the explorer
    // replaces no values in the stored tabs.
    return new Map();
  }
}

/** Stores the values that the explorer filled into the open tabs. */
export function storeFilledValues(filled: Map<string, FilledValues>, openTabs: { id: string }[]): void {
  const open = [...filled].filter(([tabId]) => openTabs.some(({ id }) => id === tabId));
  deviceStorage.setItem(storedValuesName, JSON.stringify(Object.fromEntries(open)));
}
