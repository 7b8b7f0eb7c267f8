import { describe, expect, test } from 'vitest';
import { shellCommands } from '../../cli/shell-words.ts';
import { openCommandLine } from '../support/command-line.ts';
import { openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway({ TRUST_PROXY: 'true' });
let requests = 0;
const url = await serve({
  ...gateway,
  // Requests with an invalid API key count towards the rate limit of the client address. Each request of these tests
  // comes from a different client address, so that no request exceeds the rate limit.
  refuseKnown(incoming, outgoing) {
    requests += 1;
    incoming.headers['x-forwarded-for'] = `10.0.${requests >> 8}.${requests & 255}`;
    return gateway.refuseKnown(incoming, outgoing);
  },
});
const { pms } = openCommandLine(url);

/** Returns the lines of one section of a help text. A section of a help text ends at the next empty line. */
function sectionOf(help: string, name: string): string[] {
  const [, lines = ''] = new RegExp(`^${name}:\\n((?: .*\\n)+)`, 'm').exec(help) ?? [];
  return lines.split('\n').filter((line) => line !== '');
}

/** Returns the help texts of a command and of all its subcommands. */
async function helpsOf(path: readonly string[] = []): Promise<{ path: string; help: string }[]> {
  const { code, out: help } = await pms(undefined, ...path, '--help');
  expect(code).toBe(0);
  const names = sectionOf(help, 'Commands').flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
  const below = names.filter((name) => name !== 'help').map((name) => helpsOf([...path, name]));
  return [{ path: path.join(' '), help }, ...(await Promise.all(below)).flat()];
}

const helps = await helpsOf();

test('the help text of pms lists its commands, and the help text of a command lists its subcommands', () => {
  expect(helps.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['', 'import', 'keys', 'keys create']),
  );
});

describe.each(helps)('the help text of pms $path', ({ path, help }) => {
  const examples = sectionOf(help, 'Examples').map((line) => line.replace(/^ {2}\$ /, ''));

  test('every example in the help text of a pms command is valid', async () => {
    expect(examples.join('\n')).toContain(`pms ${path}`.trim());
    for (const example of examples) {
      const [program, ...args] = shellCommands(example)[0] ?? [];
      if (program !== 'pms') continue;
      // The test runs each example with an invalid API key, so an example that sends a request fails with UNAUTHORIZED.
      const { err } = await pms('key', ...args);
      expect(err, example).toMatch(/^(UNAUTHORIZED: |Cannot read |Usage: |$)/);
    }
  });

  test('the help text of pms marks the options that a command requires', async () => {
    const required = sectionOf(help, 'Options').flatMap(
      (line) => /^ {2}(?:-\w, )?(--\S+).*\(required\)/.exec(line)?.[1] ?? [],
    );
    const missing: string[] = [];
    const given: string[] = [];
    for (;;) {
      const { err } = await pms('key', ...path.split(' '), ...given);
      const [, option, value] = /required option '(--\S+)( <[^']+>)?' not specified/.exec(err) ?? [];
      if (!option) break;
      missing.push(option);
      // If the command lacks a required option, the test adds the option with a valid value: a URL, a kind of parking
      // event, or a number.
      given.push(option, value?.includes('url') ? 'http://127.0.0.1:9' : option === '--kind' ? 'entry' : '1');
    }
    expect(required.toSorted()).toEqual(missing.toSorted());
  });
});
