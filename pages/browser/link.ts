import type { TabsState } from '@graphiql/react';
import { copyWith } from './copy.ts';
import { explorerAddress } from './explorer-address.ts';

/** Returns the operation in the address of the page, `?query=…&variables=…`. */
export function linkedOperation(): { query?: string; variables?: string } {
  const parameters = new URLSearchParams(location.search);
  const query = parameters.get('query');
  if (!query) return {};
  return { query, variables: indented(parameters.get('variables') ?? '') };
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}

/** Keeps the operation of the active tab in the address of the page, so that it can be shared and survives a reload. */
export function followTab({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const path = location.pathname;
  const address = query && explorerAddress(path, { query, variables: compact(variables ?? '') });
  history.replaceState(null, '', address || path);
}

/** Connects the button that copies the address of the page. */
export function offerLink(): void {
  const button = document.getElementById('copy-link') as HTMLButtonElement;
  button.addEventListener(
    'click',
    () => void copyWith(button, location.href, 'Copy the address of this page'),
  );
}
