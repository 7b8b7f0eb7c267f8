import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openCommandLine } from '../support/command-line.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;
const { pms, pmsWithInput, json, fileOf } = openCommandLine(await serve(gateway));

const eventOf = (index: number, changes: Record<string, unknown> = {}) => ({
  eventId: `gate-${index}`,
  kind: index % 2 === 0 ? 'ENTRY' : 'EXIT',
  plate: { plateType: 'DXB', plateCode: 'A', plateNumber: String(index) },
  occurredAt: new Date(Date.UTC(2026, 0, 31, 8, 0, index)).toISOString(),
  ...changes,
});
const linesOf = (events: readonly unknown[]) => events.map((event) => JSON.stringify(event)).join('\n');
const countEvents = (locationId: string) => prisma.parkingEvent.count({ where: { locationId } });

test('`pms events import` sends 1,000 parking events in each request, and a second import of the same file changes nothing', async () => {
  const { key, locationId } = await gateway.newTenant();
  const location = ['--location', locationId];
  const events = Array.from({ length: 1_200 }, (_, index) => eventOf(index));
  const file = fileOf(`\ufeff${linesOf(events)}\r\n\r\n`);
  expect(await json(key, 'events', 'import', file, ...location)).toEqual({
    recorded: 1_200,
    unchanged: 0,
    corrected: 0,
    rejected: 0,
  });
  expect(await countEvents(locationId)).toBe(1_200);
  const changed = linesOf([
    eventOf(0),
    eventOf(1, { kind: 'ENTRY' }),
    eventOf(2, { decision: 'NOT_LISTED' }),
  ]);
  const again = await pmsWithInput(changed, key, '--json', 'events', 'import', '-', ...location);
  expect(JSON.parse(again.out)).toEqual({ recorded: 0, unchanged: 1, corrected: 2, rejected: 0 });
  expect(await countEvents(locationId)).toBe(1_200);
});

test('`pms events import` rejects each parking event whose time the gateway would refuse, and records all other events', async () => {
  const { key, locationId } = await gateway.newTenant();
  const times = ['2026-01-31T08:00Z', '1969-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '2026-01-31t08:00:02z'];
  const events = [eventOf(0), ...times.map((occurredAt, index) => eventOf(index + 1, { occurredAt }))];
  const { code, out } = await pms(
    key,
    '--json',
    'events',
    'import',
    fileOf(linesOf(events)),
    '--location',
    locationId,
  );
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 3, recorded: 2, rejected: 3 });
  expect(await countEvents(locationId)).toBe(2);
});

test('`pms events import` writes the rejected parking events, with reasons, to a file that the user can correct and import', async () => {
  const { key, locationId } = await gateway.newTenant();
  const plate = { plateType: 'DXB', plateCode: 'A' };
  const wrong = [
    'not JSON',
    '[]',
    ...[
      eventOf(1, { kind: 'PARKED' }),
      eventOf(2, { occurredAt: 'today' }),
      eventOf(3, { plate }),
      eventOf(4, { color: 'red' }),
      eventOf(5, { decision: 'YES' }),
      eventOf(6, { eventId: '' }),
      eventOf(7, { occurredAt: '2999-01-01T00:00:00Z' }),
      eventOf(8, { reading: { text: 'A'.repeat(40_000) }, plate: null }),
    ].map((event) => JSON.stringify(event)),
  ];
  const file = fileOf([linesOf([eventOf(0)]), ...wrong].join('\n'));
  const { code, out, err } = await pms(key, 'events', 'import', file, '--location', locationId);
  expect(code).toBe(3);
  expect(out).toMatch(/recorded\s+1/);
  expect(out).toMatch(/rejected\s+10/);
  expect(err).toContain(`${file}.rejected.jsonl`);
  const rejected = readFileSync(`${file}.rejected.jsonl`, 'utf8').trim().split('\n');
  expect(rejected.map((line) => JSON.parse(line)).map(({ line, field }) => [line, field])).toEqual([
    [2, undefined],
    [3, undefined],
    [4, 'kind'],
    [5, 'occurredAt'],
    [6, 'plateNumber'],
    [7, 'color'],
    [8, 'decision'],
    [9, 'eventId'],
    [10, 'occurredAt'],
    [11, 'reading.text'],
  ]);
  const corrected = fileOf(rejected[2]!.replaceAll('PARKED', 'ENTRY'));
  expect(await json(key, 'events', 'import', corrected, '--location', locationId)).toMatchObject({
    recorded: 1,
  });
  expect(await countEvents(locationId)).toBe(2);
});

test('`pms events import` accepts a plate as type, code and number, or as the text that a camera read', async () => {
  const { key, locationId } = await gateway.newTenant();
  const { body } = await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
    key,
    body: { referenceId: 'unit-7', plateType: 'DXB', plateCode: 'A', plateNumber: '12345' },
  });
  const read = (index: number, reading: unknown, changes: Record<string, unknown> = {}) =>
    eventOf(index, { plate: undefined, reading, ...changes });
  const readings = [
    read(0, { text: 'a 12345', confidence: 0.93, alternatives: ['A 1234S'] }),
    read(
      1,
      { text: '\u0661\u0662\u0663', plateType: 'SHJ', confidence: null, alternatives: null },
      { plate: null },
    ),
    eventOf(2),
  ];
  const wrong = [
    read(3, 'A 12345'),
    read(4, { plateType: 'DXB' }),
    read(5, { text: 'A 1', confidence: '0.9' }),
    read(6, { text: 'A 1', alternatives: 'B 1' }),
    read(7, { text: 'A 1', region: 'ae-du' }),
    read(8, { text: 'A 1', confidence: 93 }),
    read(9, { text: ' - ' }),
    read(10, { text: 'A 1' }, { plate: { plateType: 'DXB', plateCode: 'A', plateNumber: '1' } }),
    eventOf(11, { plate: undefined }),
  ];
  const file = fileOf(linesOf([...readings, ...wrong]));
  const location = ['--location', locationId];
  const { code, out } = await pms(key, '--json', 'events', 'import', file, ...location);
  expect(code).toBe(3);
  expect(JSON.parse(out)).toEqual({ recorded: 3, unchanged: 0, corrected: 0, rejected: 9 });
  const rejected = readFileSync(`${file}.rejected.jsonl`, 'utf8').trim().split('\n');
  expect(rejected.map((line) => JSON.parse(line)).map(({ line, field }) => [line, field])).toEqual([
    [4, 'reading'],
    [5, 'text'],
    [6, 'confidence'],
    [7, 'alternatives'],
    [8, 'region'],
    [9, 'reading.confidence'],
    [10, 'reading.text'],
    [11, 'plate'],
    [12, 'plate'],
  ]);
  const events = await prisma.parkingEvent.findMany({ where: { locationId }, orderBy: { eventId: 'asc' } });
  expect(events).toMatchObject([
    { plateType: 'DXB', plateCode: 'A', text: 'a 12345', confidence: 0.93, whitelistEntryId: body.data.id },
    { plateType: 'SHJ', plateCode: '', plateNumber: '123', text: '\u0661\u0662\u0663', confidence: null },
    { plateType: 'DXB', plateCode: 'A', plateNumber: '2', text: null },
  ]);
  expect(await json(key, 'events', 'import', fileOf(linesOf(readings)), ...location)).toMatchObject({
    unchanged: 3,
  });
});

test('`pms events import` prints an error for an empty file, a missing file and a refused request', async () => {
  const { key, locationId } = await gateway.newTenant();
  const location = ['--location', locationId];
  expect(await pms(key, 'events', 'import', fileOf(''), ...location)).toMatchObject({
    code: 2,
    err: expect.stringContaining('is empty'),
  });
  expect(await pms(key, 'events', 'import', `${fileOf('')}.missing`, ...location)).toMatchObject({
    code: 2,
    err: expect.stringContaining('no such file'),
  });
  const reader = await gateway.newKey({ permissions: ['READ_LOCATIONS'], locationIds: [locationId] });
  expect(await pms(reader, 'events', 'import', fileOf(linesOf([eventOf(0)])), ...location)).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'This failed for line 1. Nothing after it was sent. No events are recorded.',
    ),
  });
});

test.each([
  ['a decimal comma', ['--text', 'A 1', '--confidence', '0,9'], 'Must be a number from 0 to 1'],
  ['an empty value', ['--text', 'A 1', '--confidence', ''], 'Must be a number from 0 to 1'],
  ['a number above 1', ['--text', 'A 1', '--confidence', '93'], 'Must be a number from 0 to 1'],
  ['a plate', ['--plate', 'DXB/A/1', '--confidence', '0.9'], "cannot be used with option '--plate"],
])('`pms events record` refuses the option --confidence with %s', async (_, options, message) => {
  const answer = await pms('key', 'events', 'record', '--location', 'gate', '--kind', 'entry', ...options);
  expect(answer).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  expect(answer.err).toContain('--confidence');
});
