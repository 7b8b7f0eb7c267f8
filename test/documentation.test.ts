import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
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

/** How long the commands of a page may take, on a machine that does other work too. */
const commandsTimeoutMs = 120_000;

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

  test.each(scripts)(
    'of $path work when they are pasted from top to bottom',
    async ({ script }) => {
      const { stdout } = await promisify(execFile)(
        'bash',
        ['-euo', 'pipefail', '-c', script.replaceAll('http://127.0.0.1:3000', url)],
        { cwd: projectFolder, env: environment },
      );
      expect(stdout).not.toMatch(/"success":false|"errors":\[/);
    },
    commandsTimeoutMs,
  );
});
