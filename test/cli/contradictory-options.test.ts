import { describe, expect, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';

// No server needs to listen at the address `http://127.0.0.1:1`, because pms refuses the contradictory options before
// it sends a request.
const { pms } = openCommandLine('http://127.0.0.1:1');

describe('contradictory options of pms', () => {
  test.each([
    [['--enable', '--disable'], "'--enable' cannot be used with option '--disable'"],
    [
      ['--all-locations', '--location', 'gate'],
      "'--all-locations' cannot be used with option '--location <location...>'",
    ],
  ])('pms webhooks update refuses the contradictory options %j', async (options, message) => {
    expect(await pms('key', 'webhooks', 'update', 'https://hooks.example.com', ...options)).toMatchObject({
      code: 2,
      err: expect.stringContaining(message),
    });
  });

  const at = ['--location', 'gate'];
  test.each([
    [
      ['export', ...at],
      'This command writes CSV: omit --json. For JSON, use `pms --json whitelist list --limit <count>`.\n',
    ],
    [
      ['export', ...at, '--output', 'residents.json'],
      'This command writes CSV: omit --json. For JSON, use `pms --json whitelist list --limit <count>`.\n',
    ],
    [
      ['quotas', 'export', ...at],
      'This command writes CSV: omit --json. For JSON, use `pms --json quotas list`.\n',
    ],
    [['completion', 'bash'], 'This command writes a shell script: omit --json.\n'],
  ])('pms refuses --json for the command %j, which cannot write JSON', async (command, err) => {
    for (const args of [
      ['--json', ...command],
      [...command, '--json'],
    ]) {
      expect(await pms('key', ...args)).toEqual({ code: 2, out: '', err });
    }
  });
});
