import type { BrowserFiles } from './browser-files.ts';
import { Header } from './header.tsx';
import { addresses, renderDocument } from './layout.tsx';

/**
 * Renders the HTML page of the console. The console page is empty until its script adds the content.
 */
export function renderConsole(files: BrowserFiles): string {
  return renderDocument({
    title: 'Console · Parking gateway',
    description:
      'View and change the locations, whitelists, webhooks and keys in the scope of an API key, with live updates.',
    styles: [files.addressOf('console.css')],
    scripts: [files.addressOf('console.js')],
    content: (
      <>
        <Header current={addresses.console} />
        <div id="console">
          <p class="note">Loading the console. It needs JavaScript.</p>
        </div>
      </>
    ),
  });
}
