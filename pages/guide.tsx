import type { BrowserFiles } from './browser-files.ts';
import { Header } from './header.tsx';
import { addresses, renderDocument } from './layout.tsx';
import { Prose } from './reference/markdown.tsx';

/** Renders the HTML page with the guide for moving from REST to GraphQL (docs/moving-to-graphql.md). */
export function renderGuide(files: BrowserFiles): string {
  return renderDocument({
    title: 'Moving to GraphQL · Parking gateway',
    description:
      'The GraphQL document that replaces each REST endpoint, and the differences between REST and GraphQL.',
    styles: [files.addressOf('page.css')],
    content: (
      <>
        <Header current={addresses.guide} />
        <main class="guide" id="content">
          <Prose text={files.guide} />
        </main>
      </>
    ),
  });
}
