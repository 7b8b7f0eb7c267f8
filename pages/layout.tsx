import type { Child } from 'hono/jsx';
import packageJson from '../package.json' with { type: 'json' };

/** The version of the gateway and of its contract. */
export const { version } = packageJson;

/** Renders a whole page as HTML text, with its styles, its script and its content. */
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
          <link rel="stylesheet" href={style} />
        ))}
        {scripts.map((script) => (
          <script type="module" src={script}></script>
        ))}
      </head>
      <body>{content}</body>
    </html>
  );
  return `<!doctype html>${document.toString()}`;
}

/** The addresses of the pages, and of the contract in both forms. */
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
