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

/**
 * The minimum time between two changes of the page's address, in milliseconds. Safari throws an error when a page
 * changes its address more than 100 times in 30 seconds. Each edit of an operation changes the address. Without this
 * minimum time, Safari would throw an error when a user types quickly.
 */
const addressIntervalMs = 400;

let currentAddress = location.pathname + location.search;
let timer: ReturnType<typeof setTimeout> | undefined;

function writeAddress(): void {
  clearTimeout(timer);
  timer = undefined;
  if (currentAddress === location.pathname + location.search) return;
  history.replaceState(null, '', currentAddress);
}

const linkButton = () => document.getElementById('copy-link') as HTMLButtonElement;

/**
 * Writes the operation of the active tab into the address of the page. Users can then share the address, and a reload
 * of the page shows the operation again. If the operation would make the address too long, the address contains no
 * operation, and the button that copies the address is disabled.
 */
export function followTab({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const path = location.pathname;
  const address = query ? explorerAddress(path, { query, variables: compact(variables ?? '') }) : path;
  currentAddress = address ?? path;
  timer ??= setTimeout(writeAddress, addressIntervalMs);
  const button = linkButton();
  button.disabled = address === undefined;
  button.title = button.disabled ? 'The operation is too long for a link' : '';
}

/** Adds a click handler to the button that copies the address of the page. */
export function offerLink(): void {
  const link = () => {
    writeAddress();
    return location.href;
  };
  bindCopyButton(linkButton(), link, 'Copy the address of this page');
}
