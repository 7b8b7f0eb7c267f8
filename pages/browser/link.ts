import type { TabsState } from '@graphiql/react';

/** The longest address that the explorer makes, in characters: servers and proxies refuse longer ones. */
const maxLinkCharacters = 6000;

/** The operation that the address asks for, `?query=…&variables=…`. */
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

/** Keeps the address of the page that of the active tab, so that it can be shared and survives a reload. */
export function followTab({ tabs, activeTabIndex }: TabsState): void {
  const { query, variables } = tabs[activeTabIndex] ?? {};
  const parameters = new URLSearchParams();
  if (query) parameters.set('query', query);
  if (query && variables) parameters.set('variables', compact(variables));
  const link = `${location.pathname}?${parameters}`;
  history.replaceState(null, '', query && link.length <= maxLinkCharacters ? link : location.pathname);
}

/** Makes the button of the page copy the address. */
export function offerLink(): void {
  const button = document.getElementById('copy-link') as HTMLButtonElement;
  const label = button.textContent;
  button.addEventListener('click', async () => {
    const copied = await navigator.clipboard.writeText(location.href).then(
      () => true,
      () => false,
    );
    button.textContent = copied ? 'Copied' : 'Copy the address of this page';
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
}
