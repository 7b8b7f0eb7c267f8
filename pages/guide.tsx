import type { BrowserFiles } from './browser-files.ts';
import { addresses, renderDocument } from './layout.tsx';
import { Prose } from './reference/markdown.tsx';

/** The guide for clients that move from REST to the graph: docs/moving-to-graphql.md as a page. */
export function renderGuide(files: BrowserFiles): string {
  return renderDocument({
    title: 'Moving to GraphQL · Parking gateway',
    description: 'Each REST endpoint, the GraphQL document that serves it, and what differs.',
    styles: [files.addressOf('page.css')],
    content: (
      <main class="guide">
        <p>
          <a href={addresses.home}>Parking gateway</a> · <a href={addresses.reference}>Reference</a> ·{' '}
          <a href={addresses.explorer}>Explorer</a>
        </p>
        <Prose text={files.guide} />
      </main>
    ),
  });
}
