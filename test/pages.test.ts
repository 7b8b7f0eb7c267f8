import { gunzipSync } from 'node:zlib';
import {
  buildSchema,
  type GraphQLSchema,
  lexicographicSortSchema,
  parse,
  printSchema,
  validate,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { resolverOf } from '../pages/reference/rest-section.tsx';
import { bodySchema, sampleOf } from '../pages/reference/sample.ts';
import { createOpenApi } from '../rest/openapi.ts';
import { routes } from '../rest/routes.ts';
import { schema } from '../schema/index.ts';
import { messageRule, messageTypes } from '../src/webhooks/payload.ts';
import { newAddress } from './support/addresses.ts';
import { openTestGateway } from './support/harness.ts';

const gateway = await openTestGateway();

const asBrowser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** Each request comes from an address of its own: the pages draw on the budget of the address. */
const get = async (path: string, headers: Record<string, string> = asBrowser) =>
  gateway.app.request(path, {
    headers: { 'X-Forwarded-For': newAddress(), ...headers },
  });

const pages = ['/', '/graphql', '/reference', '/moving-to-graphql'];
const contracts = ['/graphql/schema.graphql', '/api/openapi.json', '/openapi.json'];

const decoded = (html: string) =>
  html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

describe.each([...pages, ...contracts])('%s', (path) => {
  test('is served without a key, and not again when the reader has it', async () => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    const etag = answer.headers.get('ETag')!;
    for (const known of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await get(path, { ...asBrowser, 'If-None-Match': known });
      expect([again.status, await again.text(), again.headers.get('ETag')]).toEqual([304, '', etag]);
    }
    expect((await get(path, { ...asBrowser, 'If-None-Match': '"other"' })).status).toBe(200);
  });

  test('comes compressed to whoever takes that', async () => {
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

describe.each(pages)('the page %s', (path) => {
  test('loads nothing from another origin, runs no script of its own text, and is framed by nobody', async () => {
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

  test('names scripts and styles that a browser may keep for ever', async () => {
    const html = await (await get(path)).text();
    const assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, address]) => address!);
    expect(assets).not.toHaveLength(0);
    for (const address of assets) {
      const answer = await get(address);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Cache-Control')).toContain('immutable');
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/(javascript|css)/);
    }
  });
});

test('an unknown asset is not found', async () => {
  for (const name of ['none.js', 'files.json', '..%2fserver.js']) {
    expect((await get(`/assets/${name}`)).status).toBe(404);
  }
});

describe('the address of the graph', () => {
  const query = `?query=${encodeURIComponent('{ health { status } }')}`;

  test('is the explorer for a browser, with an operation too', async () => {
    for (const path of ['/graphql', `/graphql${query}&variables=%7B%7D`]) {
      expect(await (await get(path)).text()).toContain('X-API-Key');
    }
  });

  test('answers a client that asks by GET', async () => {
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

  test('keeps introspection for holders of a key', async () => {
    const answer = await get('/graphql?query={__schema{types{name}}}', { Accept: 'application/json' });
    expect(answer.status).toBe(401);
  });
});

describe('the contract', () => {
  test('is the schema that runs', async () => {
    const sdl = await (await get('/graphql/schema.graphql')).text();
    expect(printSchema(lexicographicSortSchema(buildSchema(sdl)))).toBe(
      printSchema(lexicographicSortSchema(schema)),
    );
  });

  test('is the OpenAPI document of this version, the same at both addresses', async () => {
    const [one, other] = [await get('/api/openapi.json'), await get('/openapi.json')];
    expect(one.headers.get('Content-Type')).toContain('application/json');
    expect(await one.json()).toEqual(JSON.parse(JSON.stringify(createOpenApi(schema))));
    expect(one.headers.get('ETag')).toBe(other.headers.get('ETag'));
  });
});

test('shows messages of webhooks that their own rules allow', () => {
  const openApi = createOpenApi(schema);
  const resolve = resolverOf(openApi);
  for (const type of messageTypes) {
    const sample = sampleOf(bodySchema(openApi.webhooks[type]!.post!.requestBody), resolve);
    expect(messageRule(type).safeParse(sample).error, JSON.stringify(sample)).toBeUndefined();
  }
});

describe('the home page', () => {
  test('links the rest and says the version', async () => {
    const html = await (await get('/')).text();
    for (const path of [
      '/graphql',
      '/reference',
      '/moving-to-graphql',
      '/graphql/schema.graphql',
      '/api/openapi.json',
    ]) {
      expect(html).toContain(`href="${path}"`);
    }
    expect(html).toContain(createOpenApi(schema).info.version as string);
  });
});

describe('the reference', () => {
  const explorerLinks = (html: string) =>
    [...html.matchAll(/href="(\/graphql\?[^"]+)"/g)].map(([, href]) => {
      const { searchParams } = new URL(decoded(href!), 'http://gateway.example');
      return {
        query: searchParams.get('query')!,
        variables: JSON.parse(searchParams.get('variables') ?? '{}') as Record<string, unknown>,
      };
    });

  test('has every endpoint, every root field and every error code', async () => {
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

  test('offers documents for the explorer that are valid and have the variables that they need', async () => {
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

  test('offers documents within the limits of an operation', async () => {
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

  test('shows no text as HTML', async () => {
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
