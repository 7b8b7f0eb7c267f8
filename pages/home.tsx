import type { BrowserFiles } from './browser-files.ts';
import { Header } from './header.tsx';
import { addresses, renderDocument, version } from './layout.tsx';

const links: { address: string; name: string; about: string }[] = [
  {
    address: addresses.console,
    name: 'Console',
    about: 'See what a key can see, live: sites, whitelists, webhooks, keys, and the query behind each view.',
  },
  {
    address: addresses.explorer,
    name: 'Explorer',
    about: 'Run queries, mutations and live subscriptions, with documentation and completion.',
  },
  {
    address: addresses.reference,
    name: 'Reference',
    about: 'Every REST endpoint beside the GraphQL operation that serves it; webhooks, errors, limits.',
  },
  {
    address: addresses.guide,
    name: 'Moving to GraphQL',
    about: 'For clients of REST: each endpoint, the document that serves it, and what differs.',
  },
  { address: addresses.schema, name: 'schema.graphql', about: 'The graph in SDL, for code generators.' },
  {
    address: addresses.openApi,
    name: 'openapi.json',
    about: 'The REST contract as OpenAPI 3.1, for client generators.',
  },
];

/** Renders the start page, which shows links to all other pages and the version of the gateway. */
export function renderHome(files: BrowserFiles): string {
  return renderDocument({
    title: 'Parking gateway',
    description: 'Companies, parking locations and whitelists of vehicles, as a graph and as REST.',
    styles: [files.addressOf('page.css')],
    content: (
      <>
        <Header current={addresses.home} />
        <main class="home" id="content">
          <h1>Parking gateway</h1>
          <p class="version">Version {version}</p>
          <p>
            Companies, parking locations and whitelists of vehicles: one service, as a graph under{' '}
            <code>/graphql</code> and as REST under <code>/api</code>. Requests carry a key in{' '}
            <code>X-API-Key</code>; these pages need none.
          </p>
          <ul class="links">
            {links.map(({ address, name, about }) => (
              <li>
                <a href={address}>{name}</a>
                <span>{about}</span>
              </li>
            ))}
          </ul>
        </main>
      </>
    ),
  });
}
