import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { schema } from '../../schema/index.ts';
import { variableNames } from '../../src/config.ts';
import * as graphLimits from '../../src/graphql/limits.ts';
import { type SlotLimits, slotLimits } from '../../src/scheduling/limits.ts';
import { fencedBlocks, linkedFiles, projectFolder, readPages } from '../support/documentation.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';
import { eventually, freePort } from '../support/system-servers.ts';

const pages = readPages();
const gateway = await openTestGateway();
const url = await serve(gateway);
await gateway.newTenant();
const environment = {
  ...process.env,
  KEY: await gateway.newKey({ unrestricted: true }),
  PMS_URL: url,
};

test('docs/configuration.md explains every environment variable that the gateway reads, and no other variable', () => {
  const { text } = pages.find(({ path }) => path === 'docs/configuration.md')!;
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const documented = rows.flatMap((row) =>
    [...row.split('|')[1]!.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
  );
  expect(documented.toSorted()).toEqual(variableNames.toSorted());
});

test.each(pages)('in the document $path, every link to a file leads to an existing file', (page) => {
  expect(linkedFiles(page).filter((file) => !existsSync(join(projectFolder, file)))).toEqual([]);
});

test.each(pages)(
  'every code block with commands in the document $path is labelled `run` (tested) or `manual` (not tested)',
  (page) => {
    const commands = fencedBlocks(page).filter(({ language }) => language === 'sh');
    expect(commands.filter(({ words }) => !/^(run|manual)$/.test(words.join(' ')))).toEqual([]);
  },
);

/**
 * Writes the programs of a document, such as `camera.ts`, to files, and inserts the paths of these files into the
 * document's commands.
 */
function withFiles(script: string, path: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'documentation-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return fencedBlocks(pages.find((page) => page.path === path)!).reduce((commands, { words, text }) => {
    const [name = ''] = words;
    if (!name.endsWith('.ts')) return commands;
    writeFileSync(join(folder, name), text);
    return commands.replaceAll(name, join(folder, name));
  }, script);
}

/** The maximum time from the start of the camera program until it accepts connections, on a busy machine. */
const cameraStartTimeoutMs = 120_000;

describe('commands in the documents', () => {
  const scripts = pages
    .map((page) => ({
      path: page.path,
      script: fencedBlocks(page)
        .filter(({ words }) => words.includes('run'))
        .map(({ text }) => text)
        .join('\n'),
    }))
    .filter(({ script }) => script !== '');

  test.each(scripts)(
    'the tested commands of the document $path work when they run in the order of the document',
    async ({ script, path }) => {
      const commands = withFiles(script, path)
        .replaceAll('http://127.0.0.1:3000', url)
        .replace('--retry 30 ', `--retry ${cameraStartTimeoutMs / 1000} `)
        // The test does not run npx, because npx needs seconds to search all packages.
        .replaceAll('npx pms', 'node dist/pms.js');
      const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
        cwd: projectFolder,
        env: environment,
      });
      expect(stdout).not.toMatch(/"success":false|"errors":\[/);
    },
  );
});

/**
 * Starts the program of docs/cameras.md with an API key. Then sends a message about a plate to this program, as a
 * camera does. Returns the HTTP status with which the camera program responds to this message.
 */
async function postToCameraProgram(key: string, locationId: string, plate: string): Promise<number> {
  const file = withFiles('camera.ts', 'docs/cameras.md');
  const port = await freePort();
  writeFileSync(file, readFileSync(file, 'utf8').replace('18080', String(port)));
  const camera = spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: projectFolder,
    env: { ...process.env, PMS_URL: url, PMS_API_KEY: key, LOCATION_ID: locationId },
    stdio: 'ignore',
  });
  onTestFinished(() => void camera.kill());
  const results = [{ plate, score: 0.92, candidates: [{ plate }] }];
  const data = { camera_id: 'entry-1', timestamp: new Date().toISOString(), results };
  const post = () => fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: JSON.stringify({ data }) });
  const { status } = await eventually('the camera program responds', post, cameraStartTimeoutMs);
  return status;
}

test.each([
  { status: 204, permissions: ['READ_WHITELIST', 'WRITE_ACTIVITY'] as const },
  { status: 503, permissions: ['READ_WHITELIST'] as const },
])(
  'the program of docs/cameras.md responds to a camera with $status when the API key of the program has the permissions $permissions',
  async ({ status, permissions }) => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const vehicle = newEntry();
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: vehicle });
    const cameraKey = await gateway.newKey({ permissions, companyIds: [companyId] });
    const plate = `${vehicle.plateCode}${vehicle.plateNumber}`;
    expect(await postToCameraProgram(cameraKey, locationId, plate)).toBe(status);
  },
);

test('docs/api.md contains the name of every root field of the GraphQL schema', () => {
  const { text } = pages.find(({ path }) => path === 'docs/api.md')!;
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = types.flatMap((type) => Object.keys(type!.getFields()));
  expect(fields.filter((field) => !text.includes(`\`${field}\``))).toEqual([]);
});

test('the pictures in docs/ equal the output of the script that draws them', () => {
  const { status, stderr } = spawnSync(process.execPath, ['docs/pictures/draw.mjs', '--check'], {
    cwd: projectFolder,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

describe('documentation of the limits of concurrent tasks', () => {
  const textOf = (path: string) => pages.find((page) => page.path === path)!.text;
  const countText = (count: number | undefined) =>
    count === undefined || count === Infinity ? 'any number' : count.toLocaleString('en');

  test('docs/decisions/concurrency.md shows every concurrency limit with its reason', () => {
    const rows = Object.values<SlotLimits>(slotLimits).map((limits) => [
      limits.task,
      limits.owner,
      countText(limits.runningPerOwner),
      countText(limits.running),
      countText(limits.waiting?.perOwner),
      limits.waiting?.maxMs ? `${limits.waiting.maxMs / 1_000} s at most` : 'any time',
      limits.holdMs === Infinity ? 'to the end' : `${limits.holdMs / 1_000} s at most`,
      limits.reason,
    ]);
    const shown = textOf('docs/decisions/concurrency.md')
      .split('\n')
      .map((line) => line.split('|').slice(1, -1))
      .filter((cells) => cells.length === rows[0]!.length)
      .map((cells) => cells.map((cell) => cell.trim()))
      .slice(2); // the first two lines of a Markdown table are its header
    expect(shown).toEqual(rows);
  });

  test('docs/rate-limits.md shows the concurrency limits of requests', () => {
    const { requests, largeBodies, locationChanges, imports } = slotLimits;
    const text = textOf('docs/rate-limits.md');
    expect(text).toContain(
      `${requests.runningPerOwner} requests run; ${countText(requests.waiting.perOwner)} more wait, and the request that has waited longest starts first`,
    );
    expect(text).toContain(
      `one body for each API key in a process; ${countText(largeBodies.waiting.perOwner)} more requests wait`,
    );
    expect(text).toContain(
      `a process runs one change at a time; ${locationChanges.waiting.perOwner} more changes wait, for at most ${locationChanges.waiting.maxMs / 1_000} s`,
    );
    expect(text).toContain(
      `a process runs one import at a time; ${imports.waiting.perOwner} more imports wait, for at most ${imports.waiting.maxMs / 1_000} s`,
    );
  });
});

test('docs/rate-limits.md shows the limits of a GraphQL document', () => {
  const { text } = pages.find(({ path }) => path === 'docs/rate-limits.md')!;
  const limits = [
    `${graphLimits.maxDocumentCharacters.toLocaleString('en')} characters`,
    `${graphLimits.maxDocumentTokens.toLocaleString('en')} tokens`,
    `${graphLimits.maxSelections} selections`,
    `${graphLimits.maxAliases} aliases`,
    `${graphLimits.maxDirectives} directives`,
    `${graphLimits.maxDocumentDepth} nested levels`,
  ];
  expect(text).toContain(`| ${limits.join(', ')} `);
  expect(text).toMatch(
    new RegExp(`^\\| root fields of a GraphQL mutation +\\| ${graphLimits.maxRootMutationFields} +\\|`, 'm'),
  );
});

/** A regular expression that finds links to documents in code comments, such as `docs/contract-keys.md#keys`. */
const citation = /docs\/[\w/-]+\.md(?:#[\w-]+)?/g;

/** Returns the anchor that GitHub creates for a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

test('when a code comment contains a link to a document or to a section of a document, the target of the link exists', () => {
  const anchors = new Map(
    pages.map(({ path, text }) => [
      path,
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!)),
    ]),
  );
  const tracked = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs', '*.prisma'], {
    cwd: projectFolder,
    encoding: 'utf8',
  });
  const missing = tracked
    .trim()
    .split('\n')
    .filter((file) => existsSync(join(projectFolder, file)) && !file.startsWith('test/'))
    .flatMap((file) => readFileSync(join(projectFolder, file), 'utf8').match(citation) ?? [])
    .filter((cited) => {
      const [path = '', anchor] = cited.split('#');
      return !anchors.has(path) || (anchor !== undefined && !anchors.get(path)!.includes(anchor));
    });
  expect(missing).toEqual([]);
});
