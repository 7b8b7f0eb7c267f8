import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { generate } from '@graphql-codegen/cli';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { afterAll, expect, test } from 'vitest';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';
import { typeFaults } from '../support/type-faults.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

/** A folder inside the project, so that the generated clients find the packages of the project. */
const data = fileURLToPath(new URL('../../data/', import.meta.url));
mkdirSync(data, { recursive: true });
const folder = mkdtempSync(join(data, 'generated-clients-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

interface Client {
  run(url: string, key: string, locationId: string, plateNumber: string): Promise<unknown>;
}

const runClient = async (file: string, ...options: Parameters<Client['run']>) =>
  ((await import(pathToFileURL(file).href)) as Client).run(...options);

const restClient = `
import createClient from 'openapi-fetch';
import type { paths } from './rest.d.ts';

export async function run(url: string, key: string, locationId: string, plateNumber: string) {
  const client = createClient<paths>({ baseUrl: url + '/api', headers: { 'X-API-Key': key } });
  const path = { locationId };
  const entry = { referenceId: 'unit-7', plateType: 'DXB', plateCode: 'A', plateNumber };
  const created = await client.POST('/locations/{locationId}/whitelist', { params: { path }, body: entry });
  const again = await client.POST('/locations/{locationId}/whitelist', { params: { path }, body: entry });
  // @ts-expect-error: a plate has a number
  const refused = await client.POST('/locations/{locationId}/whitelist', { params: { path }, body: { referenceId: 'unit-7', plateType: 'DXB', plateCode: 'A' } });
  const list = await client.GET('/locations/{locationId}/whitelist', {
    params: { path, query: { referenceId: 'unit-7', limit: 1 } },
  });
  const id: string | undefined = created.data?.data.id;
  const code: string | undefined = again.error?.error.code;
  const ids: string[] = list.data?.data.map((item) => item.id) ?? [];
  return { id, code, field: refused.error?.error.details?.field, ids };
}
`;

test("a REST client that is generated from the gateway's OpenAPI document type-checks and runs", async () => {
  const document = new URL('/api/openapi.json', url);
  write('rest.d.ts', astToString(await openapiTypeScript(document)));
  const file = write('rest-client.ts', restClient);
  expect(typeFaults(file)).toEqual([]);
  const { key, locationId } = await gateway.newTenant();
  const { plateNumber } = newEntry();
  const seen = (await runClient(file, url, key, locationId, plateNumber)) as Record<string, unknown>;
  expect(seen).toEqual({
    id: expect.any(String),
    code: 'DUPLICATE_VEHICLE',
    field: 'plateNumber',
    ids: [seen.id],
  });
});

const graphDocument = `
  query MayEnter($locationId: ID!, $plate: PlateInput!) {
    plateAccess(locationId: $locationId, plate: $plate) { allowed reason }
  }
`;

const graphClient = `
import { print } from 'graphql';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { MayEnterDocument } from './graph.ts';

async function ask<Data, Variables>(url: string, key: string, document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
  const response = await fetch(url + '/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
    body: JSON.stringify({ query: print(document), variables }),
  });
  return ((await response.json()) as { data: Data }).data;
}

export async function run(url: string, key: string, locationId: string, plateNumber: string) {
  const plate = { plateType: 'DXB', plateCode: 'A', plateNumber };
  // @ts-expect-error: a location is needed
  const refused = () => ask(url, key, MayEnterDocument, { plate });
  const { plateAccess } = await ask(url, key, MayEnterDocument, { locationId, plate });
  // @ts-expect-error: no reason has this name
  const isUnknownReason = plateAccess?.reason === 'LISTEN';
  return { allowed: plateAccess?.allowed, reason: plateAccess?.reason, isUnknownReason, refused: typeof refused };
}
`;

test("a GraphQL client that is generated from the gateway's schema type-checks and runs", async () => {
  await generate(
    {
      schema: `${url}/graphql/schema.graphql`,
      documents: graphDocument,
      generates: {
        [join(folder, 'graph.ts')]: {
          plugins: ['typescript-operations', 'typed-document-node'],
          config: { useTypeImports: true, enumsAsTypes: true },
        },
      },
      silent: true,
    },
    true,
  );
  const file = write('graph-client.ts', graphClient);
  expect(typeFaults(file)).toEqual([]);
  const { key, locationId } = await gateway.newTenant();
  const { plateNumber } = newEntry();
  expect(await runClient(file, url, key, locationId, plateNumber)).toEqual({
    allowed: false,
    reason: 'NOT_LISTED',
    isUnknownReason: false,
    refused: 'function',
  });
});
