import type { ExampleValues } from './example-variables.ts';

/** The name of the local storage item that contains the values that the explorer filled into each tab. */
const storedValuesName = 'parking-gateway:filled-values';

/**
 * Returns the values that the explorer last filled into each tab, by the identifier of the tab. GraphiQL stores the
 * tabs with the filled values. After a reload, the explorer compares the tabs with the returned values to find the
 * values that it may replace.
 */
export function loadFilledValues(): Map<string, ExampleValues> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedValuesName) ?? '{}');
    return new Map(Object.entries((stored ?? {}) as Record<string, ExampleValues>));
  } catch {
    // The stored text is damaged. Without the stored values, the explorer keeps all variables of the earlier tabs.
    return new Map();
  }
}

/** Stores the values that the explorer filled into the open tabs. */
export function storeFilledValues(filled: Map<string, ExampleValues>, openTabs: { id: string }[]): void {
  const open = [...filled].filter(([tabId]) => openTabs.some(({ id }) => id === tabId));
  localStorage.setItem(storedValuesName, JSON.stringify(Object.fromEntries(open)));
}
