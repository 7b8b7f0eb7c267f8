import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { accepts } from 'hono/accepts';
import { every } from 'hono/combine';
import { secureHeaders } from 'hono/secure-headers';
import { createOpenApi } from '../rest/openapi.ts';
import type { GatewayEnv } from '../src/http/request-state.ts';
import { type BrowserFiles, loadBrowserFiles } from './browser-files.ts';
import { renderConsole } from './console-page.tsx';
import { renderExplorer } from './explorer.tsx';
import { renderGuide } from './guide.tsx';
import { renderHome } from './home.tsx';
import { addresses } from './layout.tsx';
import { renderReference } from './reference/page.tsx';
import { type ServedFile, serveFile, servedFile } from './served-file.ts';

const htmlType = 'text/html; charset=utf-8';

/**
 * The security headers of the HTML pages. With these headers, a page can load files only from the gateway, inline
 * scripts do not run, and no site can show the page in a frame.
 */
const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: 'DENY',
  strictTransportSecurity: false, // the reverse proxy sets Strict-Transport-Security, because the proxy terminates TLS
});

/**
 * Returns a function that calls `make` only once. The first call of the returned function creates a value with `make`,
 * and later calls return the same value. If the function `make` throws an error, the next call of the returned function
 * calls `make` again.
 */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/**
 * Whether a request comes from a browser that wants to show an HTML page. A GraphQL client gets a GraphQL response and
 * no page, because the `Accept` header of the client prefers JSON or server-sent events.
 */
const wantsPage = (c: Context) =>
  accepts(c, {
    header: 'Accept',
    supports: ['application/json', 'application/graphql-response+json', 'text/event-stream', 'text/html'],
    default: 'application/json',
  }) === 'text/html';

/**
 * Creates the routes that need no API key (docs/contract-keys.md#what-is-public): the GraphQL schema, the OpenAPI
 * document, and all HTML pages. The gateway's HTML pages are the start page, the API reference, the migration guide,
 * the console and the explorer. The routes that need no API key return no data of a company.
 *
 * @param options.limit middleware that takes points from the rate limit of the client's IP address
 */
export function createPages(options: {
  schema: GraphQLSchema;
  limit: MiddlewareHandler<GatewayEnv>;
}): Hono<GatewayEnv> {
  const { schema, limit } = options;
  const pages = new Hono<GatewayEnv>();

  const contractFile = (path: string, make: () => ServedFile) => {
    const file = once(async () => make());
    pages.get(path, limit, async (c) => serveFile(c, await file()));
  };
  const openApi = () => servedFile(JSON.stringify(createOpenApi(schema), null, 2), 'application/json');
  contractFile(addresses.openApi, openApi);
  contractFile(addresses.openApiAtRoot, openApi);
  contractFile(addresses.schema, () =>
    servedFile(printSchema(lexicographicSortSchema(schema)), 'text/plain; charset=utf-8'),
  );

  const page = (render: (files: BrowserFiles) => string) => {
    const file = once(async () => servedFile(render(await loadBrowserFiles()), htmlType));
    return async (c: Context) => serveFile(c, await file());
  };
  pages.get(addresses.home, limit, pageHeaders, page(renderHome));
  pages.get(
    addresses.reference,
    limit,
    pageHeaders,
    page((files) => renderReference(schema, files)),
  );
  pages.get(addresses.guide, limit, pageHeaders, page(renderGuide));
  pages.get(addresses.console, limit, pageHeaders, page(renderConsole));
  const explorer = every(limit, pageHeaders, page(renderExplorer));
  pages.get(addresses.explorer, (c, next) => (wantsPage(c) ? explorer(c, next) : next()));

  pages.get('/assets/:name', limit, async (c, next) => {
    const file = (await loadBrowserFiles()).at(c.req.path);
    return file ? serveFile(c, file) : next();
  });
  return pages;
}
