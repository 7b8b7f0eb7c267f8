import { spawnSync } from 'node:child_process';
import { closeSync, linkSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { projectFolder } from '../support/documentation.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const { pms, fileOf, folder } = openCommandLine(await serve(gateway));

const header = 'referenceId,plateType,plateCode,plateNumber';
const row = ({ referenceId, plateType, plateCode, plateNumber } = newEntry()) =>
  `${referenceId},${plateType},${plateCode},${plateNumber}`;
const badRow = () => row(newEntry({ plateCode: 'ABCD' }));
const csvOf = (...rows: string[]) => fileOf([header, ...rows, ''].join('\n'));
const eventOf = (index: number, kind = 'ENTRY') => ({
  eventId: `gate-${index}`,
  kind,
  plate: { plateType: 'DXB', plateCode: 'A', plateNumber: String(index) },
  occurredAt: new Date(Date.UTC(2026, 0, 31, 8, 0, index)).toISOString(),
});
const eventsOf = (...events: unknown[]) => fileOf(events.map((event) => JSON.stringify(event)).join('\n'));
const countEntries = (locationId: string) => prisma.whitelistEntry.count({ where: { locationId } });
const countEvents = (locationId: string) => prisma.parkingEvent.count({ where: { locationId } });

/** The path of a file that cannot be created, because its folder does not exist. */
const unwritable = join(folder, 'missing', 'x.csv');
const cannotWrite = (noun: string) =>
  `Cannot write the rejected ${noun} to ${unwritable}: ENOENT: no such file or directory, open '${unwritable}'\n`;

describe('an import by pms that cannot write its file of rejected rows', () => {
  test('if pms import cannot write its file of rejected rows, it prints the rejected rows and a command that continues the import, and sends no more rows', async () => {
    const { key, locationId } = await gateway.newTenant();
    const args = ['import', csvOf(row(), badRow(), row(), row()), '--location', locationId];
    args.push('--batch-size', '2', '--rejects', unwritable);
    const { code, out, err } = await pms(key, ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(
      'Nothing after line 3 was sent. Up to line 3, 1 rows are imported, 1 rejected.\n' +
        cannotWrite('rows') +
        '  Line 3: VALIDATION_ERROR: Invalid plate code format\n' +
        `To continue:\n  pms ${args.join(' ')} --after-line 3 ` +
        `--rejects ${unwritable.replace('.csv', '.after-3.csv')}\n`,
    );
    expect(await countEntries(locationId)).toBe(1);
  });

  test('if pms import cannot write its file of rejected rows after the last batch, it prints how many rows are created and how many are rejected', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = csvOf(row(), ...Array.from({ length: 30 }, badRow));
    const { code, out, err } = await pms(
      key,
      ...['--json', 'import', file, '--location', locationId, '--rejects', unwritable],
    );
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ created: 1, rejected: 30 });
    const lines = Array.from(
      { length: 20 },
      (_, index) => `  Line ${index + 3}: VALIDATION_ERROR: Invalid plate code format\n`,
    );
    expect(err).toBe(`${cannotWrite('rows')}${lines.join('')}  and 10 more\n`);
    expect(await countEntries(locationId)).toBe(1);
  });

  test('if pms events import cannot write its file of rejected events after the last batch, it prints how many events are recorded and how many are rejected', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = eventsOf(eventOf(0), eventOf(1, 'PARKED'));
    const { code, out, err } = await pms(
      key,
      ...['--json', 'events', 'import', file, '--location', locationId, '--rejects', unwritable],
    );
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ recorded: 1, rejected: 1 });
    expect(err).toContain(`${cannotWrite('events')}  Line 2: VALIDATION_ERROR: Must be ENTRY`);
    expect(await countEvents(locationId)).toBe(1);
  });

  test('if pms events import cannot write its file of rejected events, it sends no more batches of events', async () => {
    const { key, locationId } = await gateway.newTenant();
    const events = Array.from({ length: 1_100 }, (_, index) =>
      eventOf(index, index === 5 ? 'PARKED' : 'ENTRY'),
    );
    const { code, out, err } = await pms(
      key,
      ...['events', 'import', eventsOf(...events), '--location', locationId, '--rejects', unwritable],
    );
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('Up to line 1000, 999 events are recorded, 1 rejected.\n');
    expect(await countEvents(locationId)).toBe(999);
  });

  test('pms import prints why it cannot create the file of rejected rows, even if a later row of the input is invalid', async () => {
    const { key, locationId } = await gateway.newTenant();
    const file = csvOf(badRow(), '\n'.repeat(300_000), 'a,b');
    const { code, err } = await pms(
      key,
      ...['import', file, '--location', locationId, '--batch-size', '1', '--rejects', unwritable],
    );
    expect(code).toBe(1);
    expect(err).toContain(cannotWrite('rows'));
  });
});

describe('an import by pms whose option --rejects names the input file', () => {
  test.each([
    ['its own path', (file: string) => file],
    ['a symbolic link', (file: string) => (symlinkSync(file, `${file}.symlink`), `${file}.symlink`)],
    ['a hard link', (file: string) => (linkSync(file, `${file}.link`), `${file}.link`)],
  ])(
    'pms refuses to overwrite its input file with the rejected rows (the option --rejects names the input file by %s)',
    async (_, pathOf) => {
      const { key, locationId } = await gateway.newTenant();
      for (const [command, file] of [
        [['import'], csvOf(row(), badRow())],
        [['events', 'import'], eventsOf(eventOf(0), eventOf(1, 'PARKED'))],
      ] as const) {
        const before = readFileSync(file, 'utf8');
        const args = [...command, file, '--location', locationId, '--rejects', pathOf(file)];
        expect(await pms(key, ...args)).toEqual({
          code: 2,
          out: '',
          err: '--rejects must not be the input file\n',
        });
        expect(readFileSync(file, 'utf8')).toBe(before);
      }
      expect(await countEntries(locationId)).toBe(0);
      expect(await countEvents(locationId)).toBe(0);
    },
  );

  test('pms does not write the rejected rows to a file that pms is reading from standard input', () => {
    const file = csvOf(row(), badRow());
    const before = readFileSync(file, 'utf8');
    const stdin = openSync(file, 'r');
    onTestFinished(() => closeSync(stdin));
    const { status, stderr } = spawnSync(
      process.execPath,
      ['dist/pms.js', 'import', '-', '--location', 'gate', '--rejects', file],
      {
        cwd: projectFolder,
        env: { ...process.env, PMS_URL: 'http://127.0.0.1:1', PMS_API_KEY: 'key' },
        stdio: [stdin, 'pipe', 'pipe'],
        encoding: 'utf8',
      },
    );
    expect({ status, stderr }).toEqual({ status: 2, stderr: '--rejects must not be the input file\n' });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});
