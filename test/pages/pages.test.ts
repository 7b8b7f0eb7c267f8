import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  buildSchema,
  type GraphQLSchema,
  lexicographicSortSchema,
  parse,
  printSchema,
  validate,
} from 'graphql';
import { transpileModule } from 'typescript';
import { describe, expect, test } from 'vitest';
import { patternInWords } from '../../pages/reference/patterns.ts';
import { resolverOf } from '../../pages/reference/rest-section.tsx';
import { bodySchema, sampleOf } from '../../pages/reference/sample.ts';
import { createOpenApi } from '../../rest/openapi.ts';
import { routes } from '../../rest/routes.ts';
import { schema } from '../../schema/index.ts';
import { messageRule, messageTypes } from '../../src/webhooks/payload.ts';
import { newAddress } from '../support/addresses.ts';
import { sharedTestGateway } from '../support/harness.ts';

const gateway = await sharedTestGateway();

const asBrowser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/**
 * Sends each request from a new client address, because page requests count towards the rate limit of the client
 * address.
 */
const get = async (path: string, headers: Record<string, string> = asBrowser) =>
  gateway.app.request(path, {
    headers: { 'X-Forwarded-For': newAddress(), ...headers },
  });

const pages = ['/', '/console', '/graphql', '/reference', '/moving-to-graphql'];
const contracts = ['/graphql/schema.graphql', '/api/openapi.json', '/openapi.json'];

const decoded = (html: string) =>
  html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

describe.each([...pages, ...contracts])('the web page at the path %s', (path) => {
  test('a browser gets a page without an API key, and gets status 304 when its cached copy of the page is current', async () => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    const etag = answer.headers.get('ETag')!;
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await get(path, { ...asBrowser, 'If-None-Match': known });
      expect([again.status, await again.text(), again.headers.get('ETag')]).toEqual([304, '', etag]);
    }
    expect((await get(path, { ...asBrowser, 'If-None-Match': '"other"' })).status).toBe(200);
  });

  test('a page is compressed for clients that accept compression', async () => {
    const plain = await get(path);
    expect(plain.headers.get('Content-Encoding')).toBeNull();
    const zipped = await get(path, { ...asBrowser, 'Accept-Encoding': 'br;q=0.5, gzip' });
    expect(zipped.headers.get('Content-Encoding')).toBe('gzip');
    expect(zipped.headers.get('Vary')).toContain('Accept-Encoding');
    expect(gunzipSync(await zipped.arrayBuffer()).toString()).toBe(await plain.text());
    const refused = await get(path, { ...asBrowser, 'Accept-Encoding': 'gzip;q=0' });
    expect(refused.headers.get('Content-Encoding')).toBeNull();
  });
});

describe.each(pages)('security headers of the web page %s', (path) => {
  test('the security headers of a page forbid content from other origins, inline scripts, and display in a frame', async () => {
    const answer = await get(path);
    const html = await answer.text();
    expect(answer.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    const policy = answer.headers.get('Content-Security-Policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(answer.headers.get('X-Frame-Options')).toBe('DENY');
    expect(html).not.toMatch(/<(script|link|img|iframe)[^>]+(src|href)="(https?:)?\/\//);
    expect(html).not.toMatch(/<script(?![^>]+src=)|<style|\son\w+=|style="/);
  });

  test('browsers may cache the scripts and styles of a page for ever', async () => {
    const html = await (await get(path)).text();
    const assets = [...html.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map(([, address]) => address!);
    expect(assets).not.toHaveLength(0);
    for (const address of assets) {
      const answer = await get(address);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Cache-Control')).toContain('immutable');
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/(javascript|css)/);
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff');
    }
  });
});

describe.each(['gzip', 'br'])('download size of GraphiQL with the compression %s', (coding) => {
  /** Returns the size of a compressed response body, in bytes, and the decompressed text of the body. */
  const load = async (path: string) => {
    const answer = await get(path, { ...asBrowser, 'Accept-Encoding': coding });
    expect(answer.headers.get('Content-Encoding'), path).toBe(coding);
    const bytes = Buffer.from(await answer.arrayBuffer());
    return {
      size: bytes.length,
      text: String(coding === 'gzip' ? gunzipSync(bytes) : brotliDecompressSync(bytes)),
    };
  };

  test('for GraphiQL, a browser downloads at most 450 KB of compressed data, and at most 5 scripts and styles', async () => {
    const page = await load('/graphql');
    const assets = [...page.text.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map(
      ([, address]) => address!,
    );
    const sizes = { page: page.size, schema: (await load('/graphql/schema.graphql')).size };
    const files = new Map<string, number>();
    for (const address of assets) {
      const { size, text } = await load(address);
      files.set(address, size);
      // The test also counts the scripts that a script imports, because the browser downloads these scripts, too.
      const names = text.matchAll(/(?:from|import)\s*\(?"\.\/([\w.-]+)"/g);
      for (const [, name] of names) if (!assets.includes(`/assets/${name}`)) assets.push(`/assets/${name}`);
      expect(text).not.toContain('@font-face');
    }
    const total = sizes.page + sizes.schema + [...files.values()].reduce((sum, size) => sum + size, 0);
    expect(total, JSON.stringify({ ...sizes, ...Object.fromEntries(files) })).toBeLessThanOrEqual(450_000);
    expect(files.size).toBeLessThanOrEqual(5);
  });
});

test('requests for the scripts and styles of pages count towards the rate limit of the client address', async () => {
  const html = await (await get('/graphql')).text();
  const [, asset] = /src="\.(\/assets\/[^"]+)"/.exec(html)!;
  const headers = { 'X-Forwarded-For': newAddress() };
  const statuses: number[] = [];
  for (let index = 0; index < 101; index += 1) {
    statuses.push((await gateway.app.request(asset!, { headers })).status);
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(100);
  expect(statuses.at(-1)).toBe(429);
});

test('a request for an unknown script or style is answered with status 404', async () => {
  for (const name of ['none.js', 'files.json', '..%2fserver.js']) {
    expect((await get(`/assets/${name}`)).status).toBe(404);
  }
});

describe('the path /graphql', () => {
  const query = `?query=${encodeURIComponent('{ health { status } }')}`;

  test('a browser that opens /graphql gets GraphiQL, even when the URL contains a GraphQL operation', async () => {
    for (const path of ['/graphql', `/graphql${query}&variables=%7B%7D`]) {
      expect(await (await get(path)).text()).toContain('X-API-Key');
    }
  });

  test('a client that sends a GraphQL query to /graphql with the method GET gets a GraphQL response', async () => {
    const { key } = await gateway.newTenant();
    for (const Accept of [
      'application/json',
      'application/graphql-response+json',
      '*/*',
      'application/json, text/html;q=0.5',
    ]) {
      const answer = await get(`/graphql${query}`, { Accept, 'X-API-Key': key });
      expect(await answer.json(), Accept).toEqual({ data: { health: { status: 'ok' } } });
    }
  });

  test('a client needs an API key for introspection of the GraphQL schema', async () => {
    const answer = await get('/graphql?query={__schema{types{name}}}', { Accept: 'application/json' });
    expect(answer.status).toBe(401);
  });
});

describe('the published GraphQL schema and OpenAPI document', () => {
  test('the published GraphQL schema equals the schema that the gateway runs', async () => {
    const sdl = await (await get('/graphql/schema.graphql')).text();
    expect(printSchema(lexicographicSortSchema(buildSchema(sdl)))).toBe(
      printSchema(lexicographicSortSchema(schema)),
    );
  });

  test('the OpenAPI document contains the version of the gateway, and the gateway serves the same document at two URLs', async () => {
    const [one, other] = [await get('/api/openapi.json'), await get('/openapi.json')];
    expect(one.headers.get('Content-Type')).toContain('application/json');
    expect(await one.json()).toEqual(JSON.parse(JSON.stringify(createOpenApi(schema))));
    expect(one.headers.get('ETag')).toBe(other.headers.get('ETag'));
  });
});

test('the webhook examples in the OpenAPI document match the validation rules of webhook messages', () => {
  const openApi = createOpenApi(schema);
  const resolve = resolverOf(openApi);
  for (const type of messageTypes) {
    const sample = sampleOf(bodySchema(openApi.webhooks[type]!.post!.requestBody), resolve);
    expect(messageRule(type).safeParse(sample).error, JSON.stringify(sample)).toBeUndefined();
  }
});

describe('the home page', () => {
  test('the home page links to the other pages and shows the version of the gateway', async () => {
    const html = await (await get('/')).text();
    for (const path of [
      '/graphql',
      '/reference',
      '/moving-to-graphql',
      '/graphql/schema.graphql',
      '/api/openapi.json',
    ]) {
      expect(html).toContain(`href=".${path}"`);
    }
    expect(html).toContain(createOpenApi(schema).info.version as string);
  });
});

describe('the API reference', () => {
  const explorerLinks = (html: string) =>
    [...html.matchAll(/href="\.(\/graphql\?[^"]+)"/g)].map(([, href]) => {
      const { searchParams } = new URL(decoded(href!), 'http://gateway.example');
      return {
        query: searchParams.get('query')!,
        variables: JSON.parse(searchParams.get('variables') ?? '{}') as Record<string, unknown>,
      };
    });

  test('the API reference describes every REST endpoint, every GraphQL root field and every error code', async () => {
    const html = await (await get('/reference')).text();
    const { paths } = createOpenApi(schema);
    for (const { method, path } of routes) {
      expect(html).toContain(`id="${paths[path]![method.toLowerCase()]!.operationId}"`);
    }
    for (const [kind, type] of Object.entries(rootTypes(schema))) {
      for (const name of Object.keys(type.getFields())) expect(html).toContain(`id="${kind}-${name}"`);
    }
    for (const type of messageTypes) expect(html).toContain(`id="webhook-${type}"`);
    for (const code of ['DUPLICATE_VEHICLE', 'RATE_LIMIT_EXCEEDED'])
      expect(html).toContain(`<code>${code}</code>`);
  });

  test('every GraphQL example in the API reference is valid and has values for all of its variables', async () => {
    const links = explorerLinks(await (await get('/reference')).text());
    expect(links.length).toBeGreaterThan(routes.length);
    for (const { query, variables } of links) {
      const document = parse(query);
      expect(validate(schema, document), query).toEqual([]);
      const [operation] = document.definitions.filter((node) => node.kind === 'OperationDefinition');
      for (const { variable, type } of operation!.variableDefinitions ?? []) {
        if (type.kind === 'NonNullType') expect(variables, query).toHaveProperty(variable.name.value);
      }
    }
  });

  test('every GraphQL example in the API reference is within the cost limits of a GraphQL operation', async () => {
    const { key, locationId } = await gateway.newTenant();
    const links = explorerLinks(await (await get('/reference')).text());
    for (const { query, variables } of links.filter((link) => link.query.startsWith('query'))) {
      const filled = { ...variables, ...('locationId' in variables && { locationId }) };
      const { body } = await gateway.graph(query, { key, variables: filled });
      const codes = (body.errors ?? []).map(
        (error: { extensions: { code: string } }) => error.extensions.code,
      );
      expect(codes, query).not.toContain('VALIDATION_ERROR');
    }
  });

  test('the API reference has highlighted examples in curl, TypeScript and Python for REST and GraphQL', async () => {
    const html = await (await get('/reference')).text();
    const articles = new Map(
      [...html.matchAll(/<article id="([^"]+)".*?<\/article>/gs)].map(([text, id]) => [id!, text]),
    );
    const operations = [...articles].filter(([, text]) => text.includes('href="./graphql?'));
    expect(operations.length).toBeGreaterThan(routes.length);
    for (const [id, text] of operations) {
      for (const language of ['curl', 'TypeScript', 'Python']) {
        expect(text, id).toContain(`aria-label="Graph request in ${language}"`);
      }
      expect(text, id).toContain('<span class="keyword">');
    }
    for (const { method, path } of routes) {
      const id = createOpenApi(schema).paths[path]![method.toLowerCase()]!.operationId;
      for (const language of ['curl', 'TypeScript', 'Python']) {
        expect(articles.get(id), id).toContain(`aria-label="Request in ${language}"`);
      }
    }
    const programs = [...html.matchAll(/aria-label="[^"]+ in TypeScript"><code>(.*?)<\/code>/gs)];
    for (const [, program] of programs) {
      const text = decoded(program!.replaceAll(/<[^>]+>/g, ''))
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>');
      const { diagnostics } = transpileModule(text, { reportDiagnostics: true });
      expect(diagnostics, text).toEqual([]);
    }
  });

  test('the API reference explains every regular expression in words', () => {
    const patterns = new Set<string>();
    JSON.stringify(createOpenApi(schema), (name, value: unknown) => {
      if (name === 'pattern' && typeof value === 'string') patterns.add(value);
      return value;
    });
    expect(patterns).not.toHaveLength(0);
    for (const pattern of patterns) expect(patternInWords(pattern)).not.toBe(pattern);
  });

  test('the compressed API reference has at most 60 KB, including its script and its style sheet', async () => {
    const headers = { ...asBrowser, 'Accept-Encoding': 'gzip' };
    const page = Buffer.from(await (await get('/reference', headers)).arrayBuffer());
    const assets = [
      ...gunzipSync(page)
        .toString()
        .matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g),
    ];
    let total = page.length;
    for (const [, address] of assets) {
      total += (await (await get(address!, headers)).arrayBuffer()).byteLength;
    }
    expect(total).toBeLessThanOrEqual(60_000);
  });

  test('the API reference escapes the HTML characters in all of its texts', async () => {
    const html = await (await get('/reference')).text();
    expect(html).not.toMatch(/<(input|script|img)(?![^>]*(type="search"|type="module"))/);
    expect(html).not.toContain('[object Object]');
    expect(html).not.toContain('undefined');
  });
});

const rootTypes = (of: GraphQLSchema) => ({
  query: of.getQueryType()!,
  mutation: of.getMutationType()!,
  subscription: of.getSubscriptionType()!,
});
