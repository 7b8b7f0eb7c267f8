import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, print } from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { routes } from '../rest/routes.ts';
import { schema } from '../schema/index.ts';
import { planOperation } from '../src/graphql/operation-plan.ts';
import { newAddress } from './support/addresses.ts';
import { type FencedBlock, fencedBlocks, projectFolder, readPages } from './support/documentation.ts';
import { newEntry, openTestGateway, serve } from './support/harness.ts';
import { hasPython } from './support/python.ts';
import { typeFaults } from './support/type-faults.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);

const page = readPages().find(({ path }) => path === 'docs/moving-to-graphql.md')!;

/** The part of the page under a heading, up to the next heading of any level. */
function sectionUnder(heading: string): string {
  const [, ...parts] = page.text.split(`\n${heading}\n`);
  expect(parts, heading).toHaveLength(1);
  return parts[0]!.split(/^#{2,3} /m)[0]!;
}

describe('the guide for moving to GraphQL', () => {
  test('has a section for each endpoint and no other', () => {
    const [, endpoints] = page.text.split('## Endpoint by endpoint');
    const headings = [...endpoints!.matchAll(/^### `(.+)`$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(routes.map(({ method, path }) => `${method} ${path}`));
  });

  test.each(routes.map((route) => ({ name: `${route.method} ${route.path}`, route })))(
    'shows the document of $name, its permission and its deprecation',
    async ({ name, route: { method, path, document, successor } }) => {
      const { key } = await gateway.newTenant();
      const twin = await gateway.rest(method, path.replace(/\{\w+\}/g, 'x'), {
        key,
        headers: { Accept: 'application/graphql-request+json' },
        ...(method !== 'GET' && method !== 'DELETE' && { body: newEntry() }),
      });
      expect(twin.status).toBe(200);
      const text = sectionUnder(`### \`${name}\``);
      const documents = fencedBlocks({ path: page.path, text }).filter(
        ({ language }) => language === 'graphql',
      );
      expect(documents.map((block) => print(parse(block.text)))).toEqual([print(parse(twin.body.query))]);
      const [permission = 'Any key'] = planOperation(schema, document).permissions;
      expect(text.trim().split(/[.:]/)[0]).toBe(successor ? 'Deprecated' : permission);
    },
  );

  test('is served to readers of the reference, without a key', async () => {
    const headers = { 'X-Forwarded-For': newAddress() };
    const reference = await (await gateway.app.request('/reference', { headers })).text();
    expect(reference).toContain('href="/moving-to-graphql"');
    const guide = await (await gateway.app.request('/moving-to-graphql', { headers })).text();
    for (const { method, path } of routes) expect(guide).toContain(`<h3><code>${method} ${path}</code></h3>`);
  });
});

/** Writes the files of a language that the page shows into a folder of the project, so that its packages are found. */
function programFolder(...languages: string[]): string {
  const data = join(projectFolder, 'data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'moving-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const isFile = ({ language, words: [name] }: FencedBlock) =>
    languages.includes(language) && name?.includes('.');
  for (const { words, text } of fencedBlocks(page).filter(isFile))
    writeFileSync(join(folder, words[0]!), text);
  return folder;
}

describe('the programs of the guide', () => {
  /** Runs a program twice, and returns what it printed: the vehicle is there the second time. */
  async function runTwice(folder: string, program: string, ...args: string[]) {
    const { key, locationId } = await gateway.newTenant();
    const vehicle = newEntry({ referenceId: 'unit-5' });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: vehicle });
    const env = { ...process.env, PMS_URL: url, PMS_API_KEY: key, LOCATION_ID: locationId };
    const run = async () => (await promisify(execFile)(program, args, { cwd: folder, env })).stdout;
    const listed = `DXB A ${vehicle.plateNumber}\nDXB K 504\n`;
    expect([await run(), await run()]).toEqual([`added\n${listed}`, `listed already\n${listed}`]);
  }

  test('in TypeScript, generated from the served schema, type-check and run', async () => {
    const folder = programFolder('ts', 'graphql');
    const codegen = join(projectFolder, 'node_modules/@graphql-codegen/cli/cjs/bin.js');
    await promisify(execFile)(process.execPath, ['--import', 'tsx', codegen, '--config', 'codegen.ts'], {
      cwd: folder,
      env: { ...process.env, PMS_URL: url },
    });
    const file = join(folder, 'vehicles.ts');
    expect(typeFaults(file)).toEqual([]);
    await runTwice(folder, process.execPath, '--import', 'tsx', file);
  });

  test.runIf(hasPython)('in Python run', async () => {
    await runTwice(programFolder('python'), 'python3', 'vehicles.py');
  });
});
