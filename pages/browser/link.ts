import type { TabsState } from '@graphiql/react';
import { bindCopyButton } from './copy.ts';
import { explorerAddress } from './explorer-address.ts';

/** Returns the operation in the query string of the page's address, such as `?query=…&variables=…`. */
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

const linkButton = () => document.getElementById('copy-link') as HTMLButtonElement;

/**
 * Writes the operation of the active tab into the address of the page. Users can then share the address. After a
 * reload, the page shows the same operation. If the address would be too long, the user cannot copy a link.
 */
export function followTab({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const path = location.pathname;
  const address = query ? explorerAddress(path, { query, variables: compact(variables ?? '') }) : path;
  history.replaceState(null, '', address ?? path);
  const button = linkButton();
  button.disabled = address === undefined;
  button.title = button.disabled ? 'The operation is too long for a link' : '';
}

/** Adds the event handler to the button that copies the address of the page. */
export function offerLink(): void {
  bindCopyButton(linkButton(), () => location.href, 'Copy the address of this page');
}
