import type { BrowserFiles } from './browser-files.ts';
import { Header } from './header.tsx';
import { addresses, linkTo, renderDocument } from './layout.tsx';

/**
 * Renders the page of the explorer, with the field for the API key and an element in which GraphiQL appears.
 */
export function renderExplorer(files: BrowserFiles): string {
  return renderDocument({
    title: 'Explorer · Parking gateway',
    description: 'Run queries, mutations and subscriptions of the parking gateway.',
    styles: [files.addressOf('explorer.css')],
    scripts: [files.addressOf('explorer-start.js'), files.addressOf('explorer.js')],
    content: (
      <>
        {/* The preload link makes the browser load the GraphQL schema before the script of the page runs. */}
        <link rel="preload" as="fetch" href={linkTo(addresses.schema)} crossorigin="anonymous" />
        <Header current={addresses.explorer}>
          <div class="key">
            <label for="key">API key</label>
            <input
              id="key"
              type="password"
              autocomplete="off"
              spellcheck={false}
              placeholder="pms_…"
              title="Sent as X-API-Key with every operation of every tab"
            />
          </div>
          <label
            class="remember"
            title="Without this option, the browser forgets the key when the page is closed"
          >
            <input id="remember-key" type="checkbox" />
            Remember on this device
          </label>
          <span id="key-status" role="status"></span>
          <button id="copy-link" type="button">
            Copy link
          </button>
        </Header>
        <main id="content">
          <h1 class="visually-hidden">Explorer</h1>
          <div id="explorer">
            <form id="first-operation">
              <label for="first-text">Operation</label>
              <textarea id="first-text" spellcheck={false} autocomplete="off"></textarea>
              <button type="submit" disabled>
                Run
              </button>
              <pre tabindex={0} aria-label="Answer" role="region" aria-live="polite"></pre>
              <p class="note" role="status">
                The editors with completion and examples are loading. They need JavaScript.
              </p>
            </form>
          </div>
        </main>
      </>
    ),
  });
}
