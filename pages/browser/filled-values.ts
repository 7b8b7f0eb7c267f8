import type { FilledValues } from './example-variables.ts';
import { deviceStorage } from './storage.ts';

/** The name of the local storage item that contains, for each explorer tab, the values that the explorer filled in. */
const storedValuesName = 'parking-gateway:filled-values';

/**
 * Returns a map from the identifier of each explorer tab to the values that the explorer last filled into this tab.
 * GraphiQL stores the text of each tab, including the values that the explorer filled in. After the user reloads the
 * page, the explorer uses the returned map to recognise the values that it filled in earlier. The explorer can then
 * replace its own values without changing the values that the user has written.
 */
export function loadFilledValues(): Map<string, FilledValues> {
  try {
    const stored: unknown = JSON.parse(deviceStorage.getItem(storedValuesName) ?? '{}');
    return new Map(Object.entries((stored ?? {}) as Record<string, FilledValues>));
  } catch {
    // If the text in the local storage is not valid JSON, the function returns an empty map. With an empty map, the
    // explorer does not recognise the values that it filled into the stored tabs earlier, and therefore does not
    // replace these values.
    return new Map();
  }
}

/** Stores the values that the explorer filled into the open tabs. */
export function storeFilledValues(filled: Map<string, FilledValues>, openTabs: { id: string }[]): void {
  const open = [...filled].filter(([tabId]) => openTabs.some(({ id }) => id === tabId));
  deviceStorage.setItem(storedValuesName, JSON.stringify(Object.fromEntries(open)));
}
