import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, print } from 'graphql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { routes } from '../../rest/routes.ts';
import { schema } from '../../schema/index.ts';
import { planOperation } from '../../src/graphql/operation-plan.ts';
import { newAddress } from '../support/addresses.ts';
import { type FencedBlock, fencedBlocks, projectFolder, readPages } from '../support/documentation.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';
import { hasPython } from '../support/python.ts';
import { typeFaults } from '../support/type-faults.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);

const pages = readPages().filter(({ path }) => path.startsWith('docs/moving-to-graphql/'));
const programs = pages.find(({ path }) => path.endsWith('/programs.md'))!;

/** Returns the section of the guide under a given heading, up to the next heading of any level. */
function sectionUnder(heading: string): string {
  const parts = pages.flatMap(({ text }) => text.split(`\n${heading}\n`).slice(1));
  expect(parts, heading).toHaveLength(1);
  return parts[0]!.split(/^#{2,3} /m)[0]!;
}

describe('the guide for moving to GraphQL', () => {
  test('the guide for moving to GraphQL has exactly one section for each REST endpoint', () => {
    const headings = pages.flatMap(({ text }) =>
      [...text.matchAll(/^## `(.+)`$/gm)].map(([, heading]) => heading),
    );
    expect(headings.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  test.each(routes.map((route) => ({ name: `${route.method} ${route.path}`, route })))(
    'the guide for moving to GraphQL shows the equivalent GraphQL document and the permission for the REST endpoint $name',
    async ({ name, route: { method, path, document, successor } }) => {
      const { key } = await gateway.newTenant();
      const twin = await gateway.rest(method, path.replace(/\{\w+\}/g, 'x'), {
        key,
        headers: { Accept: 'application/graphql-request+json' },
        ...(method !== 'GET' && method !== 'DELETE' && { body: newEntry() }),
      });
      expect(twin.status).toBe(200);
      const text = sectionUnder(`## \`${name}\``);
      const documents = fencedBlocks({ path: name, text }).filter(({ language }) => language === 'graphql');
      expect(documents.map((block) => print(parse(block.text)))).toEqual([print(parse(twin.body.query))]);
      const [permission = 'Any key'] = planOperation(schema, document).permissions;
      expect(text.trim().split(/[.:]/)[0]).toBe(successor ? 'Deprecated' : permission);
    },
  );

  test('without an API key, a client can read the guide for moving from REST to GraphQL', async () => {
    const headers = { 'X-Forwarded-For': newAddress() };
    const reference = await (await gateway.app.request('/reference', { headers })).text();
    expect(reference).toContain('href="./moving-to-graphql"');
    const guide = await (await gateway.app.request('/moving-to-graphql', { headers })).text();
    for (const { method, path } of routes) expect(guide).toContain(`<h3><code>${method} ${path}</code></h3>`);
  });
});

/**
 * Creates a folder that contains the guide's programs in the given programming languages. The folder with the programs
 * is inside the project folder, so that the programs can import the packages of the project.
 */
function programFolder(...languages: string[]): string {
  const data = join(projectFolder, 'data');
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, 'moving-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const isFile = ({ language, words: [name] }: FencedBlock) =>
    languages.includes(language) && name?.includes('.');
  for (const { words, text } of fencedBlocks(programs).filter(isFile))
    writeFileSync(join(folder, words[0]!), text);
  return folder;
}

describe('programs of the guide for moving to GraphQL', () => {
  /**
   * Runs a program from the guide for moving to GraphQL twice, and checks its output. The first run of the program adds
   * a vehicle to the whitelist, so the second run finds this vehicle on the whitelist.
   */
  async function runTwice(folder: string, program: string, ...args: string[]) {
    const { key, locationId } = await gateway.newTenant();
    const vehicle = newEntry({ referenceId: 'unit-5' });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: vehicle });
    const env = { ...process.env, PMS_URL: url, PMS_API_KEY: key, LOCATION_ID: locationId };
    const run = async () => (await promisify(execFile)(program, args, { cwd: folder, env })).stdout;
    const listed = `DXB A ${vehicle.plateNumber}\nDXB K 504\n`;
    expect([await run(), await run()]).toEqual([`added\n${listed}`, `listed already\n${listed}`]);
  }

  test('the TypeScript programs in the guide for moving from REST to GraphQL have no type errors with the schema of the gateway, and run successfully', async () => {
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

  test.runIf(hasPython)(
    'the Python programs in the guide for moving from REST to GraphQL run without errors',
    async () => {
      await runTwice(programFolder('python'), 'python3', 'vehicles.py');
    },
  );
});
