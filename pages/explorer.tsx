import type { BrowserFiles } from './browser-files.ts';
import { addresses, renderDocument } from './layout.tsx';

/** The explorer: the field for the key, and the place that GraphiQL fills. */
export function renderExplorer(files: BrowserFiles): string {
  return renderDocument({
    title: 'Explorer · Parking gateway',
    description: 'Run queries, mutations and subscriptions of the parking gateway.',
    styles: [files.addressOf('explorer.css')],
    script: files.addressOf('explorer.js'),
    content: (
      <>
        <header class="bar">
          <a class="brand" href={addresses.home}>
            Parking gateway
          </a>
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
          <label class="remember" title="Without this the key is forgotten when the page is closed">
            <input id="remember-key" type="checkbox" />
            Remember on this device
          </label>
          <span id="key-status" role="status"></span>
          <nav>
            <button id="copy-link" type="button">
              Copy link
            </button>
            <a href={addresses.reference}>Reference</a>
          </nav>
        </header>
        <main id="explorer">
          <p class="note">Loading the explorer. It needs JavaScript.</p>
        </main>
      </>
    ),
  });
}
