import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { pms, json, fileOf, folder } = openCommandLine(await serve(gateway));

const quotas = 'referenceId,inside,enforcement';
const event = (note: string) =>
  `{"eventId":"1${note}","kind":"ENTRY","plate":{"plateType":"DXB","plateCode":"A","plateNumber":"1"},"occurredAt":"2026-01-31T08:00:00Z"}`;

describe('the input files of pms', () => {
  test.each<[string, string[], string]>([
    ['import', ['import'], 'referenceId,plateType,plateCode,plateNumber\nCafé,DXB,A,1'],
    ['quotas import', ['quotas', 'import'], `${quotas}\nCafé,1,HARD`],
    ['events import', ['events', 'import'], event('é')],
    ['occupancy set-inside', ['occupancy', 'set-inside'], 'DXB/A/1é'],
  ])('pms %s refuses a file that is not in UTF-8', async (_, command, text) => {
    const { key, locationId } = await gateway.newTenant();
    const file = fileOf(Buffer.from(text, 'latin1'));
    const { code, out, err } = await pms(key, ...command, file, '--location', locationId);
    expect({ code, out, err }).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining(`${file} is not in UTF-8`),
    });
    expect(err).not.toContain('    at ');
  });

  test.each<[string, string[]]>([
    ['import', ['import']],
    ['quotas import', ['quotas', 'import']],
    ['events import', ['events', 'import']],
    ['occupancy set-inside', ['occupancy', 'set-inside']],
    ['translate', ['translate']],
  ])('pms %s exits with code 2 when it cannot read its input file', async (name, command) => {
    // The input file is a socket: pms cannot read this file, because not even the user root can open a socket as a
    // file.
    const path = join(folder, `${name.replace(' ', '-')}.socket`);
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const options = name === 'translate' ? [] : ['--location', 'gate'];
    const { code, out, err } = await pms((await gateway.newTenant()).key, ...command, path, ...options);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(new RegExp(`^Cannot read ${path}: ENXIO: .+\n$`));
  });

  test.each([
    ['no content', '', `is empty: its first line must be ${quotas}`],
    ['a missing column', 'referenceId,inside\nunit-7,1', 'Line 1: the column enforcement is missing'],
    ['a repeated column', `${quotas},inside\nunit-7,1,HARD,2`, 'Line 1: the column inside is repeated'],
    ['an unknown column', `${quotas},note\nunit-7,1,HARD,x`, 'Line 1: unknown column note'],
    ['semicolons', quotas.replaceAll(',', ';'), 'Line 1: the columns are separated by semicolons (";")'],
    [
      'semicolons and quoted names',
      '"referenceId";"inside";"enforcement"\r\n"unit-7";"1";"HARD"',
      'Line 1: the columns are separated by semicolons (";")',
    ],
    ['an empty column at the end', `${quotas},\nunit-7,1,HARD,`, 'Line 1: column 4 has no name'],
    ['empty columns at the end', `${quotas},,\nunit-7,1,HARD,,`, 'Line 1: column 4 has no name'],
    [
      'an open quote',
      `${quotas}\nunit-7,1,"HARD\n${'unit-8,1,HARD\n'.repeat(9)}`,
      'Line 2: a quote that opens in this line or in the next row is not closed',
    ],
    [
      'an open quote in the last line',
      `${quotas}\nunit-7,1,HARD\n\n"unit-8,1,HARD`,
      'Line 2: a quote that opens in this line or in the next row is not closed',
    ],
  ])('pms quotas import refuses a file with %s, and changes no quota', async (_, text, message) => {
    const { key, locationId } = await gateway.newTenant();
    const at = ['--location', locationId];
    await json(key, 'quotas', 'set', 'unit-7', ...at, '--inside', '2', '--enforcement', 'report');
    const { code, err } = await pms(key, 'quotas', 'import', fileOf(text), ...at);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
    expect(await json(key, 'quotas', 'list', ...at)).toMatchObject([{ inside: 2, enforcement: 'REPORT' }]);
  });

  test('pms import --mode replace refuses a file with a header but no rows, and keeps the whitelist', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = fileOf('referenceId,plateType,plateCode,plateNumber\n');
    expect(await pms(key, 'import', file, '--location', locationId, '--mode', 'replace')).toEqual({
      code: 2,
      out: '',
      err: `${file} has no rows. A file for --mode replace must have at least one row. Nothing was sent.\n`,
    });
  });

  test.each([
    ['no content', ''],
    ['only a byte order mark and empty lines', '\ufeff\n \r\n'],
  ])(
    'pms occupancy set-inside refuses a file with %s, unless the user gives --allow-empty',
    async (_, text) => {
      const { key, locationId } = await gateway.newTenant();
      const at = ['--location', locationId];
      const command = ['occupancy', 'set-inside', fileOf(text), ...at];
      expect(await json(key, 'occupancy', 'set-inside', fileOf('DXB/A/7001'), ...at)).toMatchObject({
        occupied: 1,
      });
      expect(await pms(key, ...command)).toEqual({
        code: 2,
        out: '',
        err: `${command[2]} contains no plates. If no vehicle is inside, add the option --allow-empty. Nothing was sent.\n`,
      });
      expect(await json(key, 'status', locationId)).toMatchObject([{ occupied: 1 }]);
      expect(await json(key, ...command, '--allow-empty')).toMatchObject({ occupied: 0, adjustment: 0 });
    },
  );

  test('pms events import accepts a byte order mark and every kind of line ending, and counts the recorded and the rejected events', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = fileOf(`\ufeff${event('a')}\r\n\r\n${event('\u2028b')}\n${event('c')}\rno JSON`);
    const { code, out, err } = await pms(key, '--json', 'events', 'import', file, '--location', locationId);
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 3, recorded: 3, rejected: 1 });
    expect(err).toContain('.rejected.jsonl');
  });
});
