import type { Child } from 'hono/jsx';
import packageJson from '../package.json' with { type: 'json' };

/** The version of the gateway, which is also the version of its API. */
export const { version } = packageJson;

/** Returns the HTML of a whole page, which contains the given style sheets, scripts and content. */
export function renderDocument(page: {
  title: string;
  description: string;
  styles: readonly string[];
  scripts?: readonly string[];
  content: Child;
}): string {
  const { title, description, styles, scripts = [], content } = page;
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <meta name="description" content={description} />
        <link rel="icon" href="data:," />
        {styles.map((style) => (
          <link rel="stylesheet" href={linkTo(style)} />
        ))}
        {scripts.map((script) => (
          <script type="module" src={linkTo(script)}></script>
        ))}
      </head>
      <body>{content}</body>
    </html>
  );
  return `<!doctype html>${document.toString()}`;
}

/** The addresses of the HTML pages, of the GraphQL schema and of the OpenAPI document. */
export const addresses = {
  home: '/',
  console: '/console',
  explorer: '/graphql',
  reference: '/reference',
  guide: '/moving-to-graphql',
  schema: '/graphql/schema.graphql',
  openApi: '/api/openapi.json',
  openApiAtRoot: '/openapi.json',
} as const;

/**
 * Returns the link from an HTML page of the gateway to another path of the gateway. The link is relative, so that it
 * also works behind a proxy that serves the gateway under a path such as `/parking/`. The same relative link is correct
 * on every page, because all pages are in the same folder.
 */
export const linkTo = (path: string) => `.${path}`;
