import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { variableNames } from '../src/config.ts';
import { fencedBlocks, linkedFiles, projectFolder, readPages } from './support/documentation.ts';
import { openTestGateway, serve } from './support/harness.ts';

const pages = readPages();
const gateway = await openTestGateway();
const url = await serve(gateway);
await gateway.newTenant();
const environment = {
  ...process.env,
  KEY: await gateway.newKey({ unrestricted: true }),
  PMS_URL: url,
};

test('docs/configuration.md explains every variable of the gateway and no other', () => {
  const { text } = pages.find(({ path }) => path === 'docs/configuration.md')!;
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const documented = rows.flatMap((row) =>
    [...row.split('|')[1]!.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
  );
  expect(documented.toSorted()).toEqual(variableNames.toSorted());
});

test.each(pages)('the links of $path lead to files that exist', (page) => {
  expect(linkedFiles(page).filter((file) => !existsSync(join(projectFolder, file)))).toEqual([]);
});

test.each(pages)('$path says of its commands whether a test runs them', (page) => {
  const commands = fencedBlocks(page).filter(({ language }) => language === 'sh');
  expect(commands.filter(({ words }) => !/^(run|manual)$/.test(words.join(' ')))).toEqual([]);
});

/** Writes the programs of a page, such as `camera.ts`, to files of their own, and has its commands name them. */
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

describe('commands of the documentation', () => {
  const scripts = pages
    .map((page) => ({
      path: page.path,
      script: fencedBlocks(page)
        .filter(({ words }) => words.includes('run'))
        .map(({ text }) => text)
        .join('\n'),
    }))
    .filter(({ script }) => script !== '');

  test.each(scripts)('of $path work when they are pasted from top to bottom', async ({ script, path }) => {
    const commands = withFiles(script, path).replaceAll('http://127.0.0.1:3000', url);
    const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
      cwd: projectFolder,
      env: environment,
    });
    expect(stdout).not.toMatch(/"success":false|"errors":\[/);
  });
});
