import type { BrowserFiles } from './browser-files.ts';
import { Header } from './header.tsx';
import { addresses, linkTo, renderDocument, version } from './layout.tsx';

const links: { address: string; name: string; about: string }[] = [
  {
    address: addresses.console,
    name: 'Console',
    about:
      'View the locations, whitelists, webhooks and keys in the scope of an API key, with live updates and the GraphQL query of each view.',
  },
  {
    address: addresses.explorer,
    name: 'Explorer',
    about: 'Run queries, mutations and live subscriptions, with documentation and completion.',
  },
  {
    address: addresses.reference,
    name: 'Reference',
    about: 'Every REST endpoint with the equivalent GraphQL operation, and the webhooks, errors and limits.',
  },
  {
    address: addresses.guide,
    name: 'Moving to GraphQL',
    about:
      'For clients that use REST: the GraphQL document that replaces each endpoint, and the differences.',
  },
  {
    address: addresses.schema,
    name: 'schema.graphql',
    about: 'The GraphQL schema in SDL, for code generators.',
  },
  {
    address: addresses.openApi,
    name: 'openapi.json',
    about: 'The REST API as an OpenAPI 3.1 document, for client generators.',
  },
];

/** Renders the start page, which shows links to all other pages and the version of the gateway. */
export function renderHome(files: BrowserFiles): string {
  return renderDocument({
    title: 'Parking gateway',
    description: 'A GraphQL API and a REST API for companies, parking locations and whitelists of vehicles.',
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
                <a href={linkTo(address)}>{name}</a>
                <span>{about}</span>
              </li>
            ))}
          </ul>
        </main>
      </>
    ),
  });
}
