import type { ExampleValues } from './example-variables.ts';

/** The name of the local storage item that contains the values that the explorer filled into each tab. */
const storedValuesName = 'parking-gateway:filled-values';

/**
 * Returns the values that the explorer last filled into each tab, by the identifier of the tab. GraphiQL stores the tabs
 * with these values, so the explorer must still know after a reload which values it may replace.
 */
export function loadFilledValues(): Map<string, ExampleValues> {
  const stored = localStorage.getItem(storedValuesName) ?? '{}';
  return new Map(Object.entries(JSON.parse(stored) as Record<string, ExampleValues>));
}

/** Stores the values that the explorer filled into the open tabs. */
export function storeFilledValues(filled: Map<string, ExampleValues>, openTabs: { id: string }[]): void {
  const open = [...filled].filter(([tabId]) => openTabs.some(({ id }) => id === tabId));
  localStorage.setItem(storedValuesName, JSON.stringify(Object.fromEntries(open)));
}
