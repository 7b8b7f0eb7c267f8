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
 * The security headers of the pages. A page loads files only from the gateway and contains no inline scripts, and other
 * sites cannot show it in a frame.
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
  strictTransportSecurity: false, // the reverse proxy, which has the certificate, sets this header
});

/** Creates a value when it is first needed, and keeps it. If this fails, the next call tries again. */
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

/** Whether a browser wants to show the address as a page. The result is false for a request of a GraphQL client. */
const wantsPage = (c: Context) =>
  accepts(c, {
    header: 'Accept',
    supports: ['application/json', 'application/graphql-response+json', 'text/event-stream', 'text/html'],
    default: 'application/json',
  }) === 'text/html';

/**
 * Creates the routes that need no API key (docs/contract.md#what-is-public). They serve the contract in both forms, the
 * reference, the migration guide, the explorer, and a start page with links. No route shows data of a customer.
 *
 * @param options.limit takes points from the rate limit of the client's address
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
