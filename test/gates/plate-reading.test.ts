import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { numbersIn, plateText } from '../../src/whitelist/plate-reading.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();
const { prisma } = gateway.database;

interface Plate {
  plateType: string;
  plateCode: string;
  plateNumber: string;
}

/** Splits a plate such as `DXB B 123` into its type, its code and its number. */
function plateOf(text: string): Plate {
  const [plateType = '', plateCode = '', plateNumber = ''] = text.split(' ');
  return { plateType, plateCode, plateNumber };
}

const shown = ({ plateType, plateCode, plateNumber }: Plate) => `${plateType} ${plateCode} ${plateNumber}`;

type Reading = { text: string; plateType?: string; confidence?: number; alternatives?: string[] };

/**
 * Creates a location with the given plates on its whitelist. Returns a function that requests a gate decision for the
 * text that a camera read.
 */
async function whitelistOf(plates: readonly string[], fields: Record<string, unknown> = {}) {
  const { key, locationId } = await gateway.newTenant();
  await prisma.whitelistEntry.createMany({
    data: plates.map((plate) => ({ ...newEntry({ ...plateOf(plate), ...fields }), id: newId(), locationId })),
  });
  const ask = async (reading: Reading | string, tolerance?: number) => {
    const { body } = await gateway.graph(
      `query ($locationId: ID!, $reading: ReadingInput!, $tolerance: Int) {
        plateAccess(locationId: $locationId, reading: $reading, tolerance: $tolerance) {
          allowed reason entry { plateType plateCode plateNumber }
          candidates { readAs entry { plateType plateCode plateNumber } differences { field position read listed } } } }`,
      {
        key,
        variables: {
          locationId,
          reading: typeof reading === 'string' ? { text: reading } : reading,
          tolerance,
        },
      },
    );
    if (body.errors) return body.errors[0].extensions;
    const { entry, candidates, ...decision } = body.data.plateAccess;
    return {
      ...decision,
      entry: entry && shown(entry),
      candidates: candidates.map((candidate: { entry: Plate }) => shown(candidate.entry)),
      details: candidates,
    };
  };
  return { key, locationId, ask };
}

const arabic = (text: string) => text.replace(/\d/g, (digit) => String.fromCharCode(0x0660 + Number(digit)));
const persian = (text: string) => text.replace(/\d/g, (digit) => String.fromCharCode(0x06f0 + Number(digit)));
const wide = (text: string) =>
  text.replace(/[0-9A-Za-z]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));

describe('gate checks with a text that a camera read', () => {
  test.each([
    ['A 12345'],
    ['A12345'],
    ['a-12345'],
    ['DXB A 12345'],
    ['dxb.a.12345'],
    ['DXB–A·12345'],
    [`A ${arabic('12345')}`],
    [`A ${persian('12345')}`],
    [wide('DXBA12345')],
    ['\u200fA\u00a01 2 3 4 5\u200e'],
  ])(
    'the text %s that a camera read matches the whitelist entry with the plate DXB/A/12345',
    async (text) => {
      const { ask } = await whitelistOf(['DXB A 12345', 'DXB B 12345', 'SHJ 1 2345']);
      expect(await ask(text)).toMatchObject({
        allowed: true,
        reason: 'LISTED',
        entry: 'DXB A 12345',
        candidates: [],
      });
    },
  );

  test('a gate admits no vehicle when the text that a camera read matches several whitelist entries', async () => {
    const { ask } = await whitelistOf(['DXB A1 2345', 'DXB A 12345', 'AUH A 12345']);
    expect(await ask('A 12345')).toMatchObject({
      allowed: false,
      reason: 'NOT_LISTED',
      entry: null,
      candidates: ['DXB A1 2345', 'DXB A 12345', 'AUH A 12345'],
      details: [{ readAs: 'A12345', differences: [] }, {}, {}],
    });
    expect(await ask({ text: 'A 12345', plateType: 'AUH' })).toMatchObject({
      allowed: true,
      entry: 'AUH A 12345',
    });
  });

  test('the text that a camera read matches a plate code regardless of upper and lower case', async () => {
    const { ask } = await whitelistOf(['DXB a 7', 'DXB A 7', 'DXB White 8']);
    expect(await ask('A7')).toMatchObject({ allowed: false, candidates: ['DXB a 7', 'DXB A 7'] });
    expect(await ask('white 8')).toMatchObject({ allowed: true, entry: 'DXB White 8' });
  });

  test('when the main text of a camera reading matches no whitelist entry, the gateway tries the alternative texts', async () => {
    const { ask } = await whitelistOf(['DXB A 1', 'DXB B 2', 'DXB C 3']);
    expect(await ask({ text: 'X 9', alternatives: ['', 'b-2', 'Y 9'] })).toMatchObject({
      allowed: true,
      entry: 'DXB B 2',
      candidates: ['DXB B 2'],
      details: [{ readAs: 'B2', differences: [{ field: 'plateCode', read: 'X', listed: 'B' }, {}] }],
    });
    expect(await ask({ text: 'A 1', alternatives: ['B 2'] })).toMatchObject({ entry: 'DXB A 1' });
    expect(await ask({ text: 'X 9', alternatives: ['C 3', 'B 2'] })).toMatchObject({
      allowed: false,
      entry: null,
      candidates: ['DXB C 3', 'DXB B 2'],
    });
  });

  test('with tolerance 1, a gate check accepts a plate text in which the camera confused one character, for example I with 1', async () => {
    const { ask } = await whitelistOf(['DXB B 15', 'DXB 8 15', 'AUH 7 1', 'DXB C 10']);
    expect(await ask('B IS')).toMatchObject({ allowed: false, candidates: [] });
    expect(await ask('B I5', 1)).toMatchObject({
      allowed: true,
      entry: 'DXB B 15',
      details: [
        { readAs: 'B15', differences: [{ field: 'plateNumber', position: 1, read: 'I', listed: '1' }] },
      ],
    });
    expect(await ask('AUH 7 I', 1)).toMatchObject({
      entry: 'AUH 7 1',
      details: [{ differences: [{ field: 'plateNumber', position: 1, read: 'I', listed: '1' }] }],
    });
    // A camera reading has a main text and alternative texts. If an alternative text equals a plate on the whitelist,
    // the gateway prefers it to a main text that is only similar to a plate.
    expect(await ask({ text: 'C IO', alternatives: ['8 15'] }, 1)).toMatchObject({ entry: 'DXB 8 15' });
    expect(await ask({ text: 'C 1O', alternatives: ['B 15', '8 15'] }, 1)).toMatchObject({
      allowed: false,
      entry: null,
      candidates: ['DXB B 15', 'DXB 8 15', 'DXB C 10'],
    });
  });

  test('when the text that a camera read matches an expired whitelist entry, the gate admits no vehicle and gives the reason EXPIRED', async () => {
    const { ask } = await whitelistOf(['DXB A 1'], { validUntil: new Date('2020-01-01T00:00:00Z') });
    expect(await ask('A 1')).toMatchObject({ allowed: false, reason: 'EXPIRED', entry: 'DXB A 1' });
  });

  test.each([
    ['no text', { text: '' }, 'reading.text'],
    ['only separators', { text: ' - . ' }, 'reading.text'],
    ['51 characters', { text: '1'.repeat(51) }, 'reading.text'],
    ['a character that expands to many', { text: '\ufdfa'.repeat(10) }, 'reading.text'],
    ['a control character', { text: 'A\u0000 1' }, 'reading.text'],
    ['an invalid plate type', { text: 'A 1', plateType: 'dubai' }, 'reading.plateType'],
    ['a confidence in percent instead of 0 to 1', { text: 'A 1', confidence: 93 }, 'reading.confidence'],
    ['eleven alternatives', { text: 'A 1', alternatives: Array(11).fill('B 1') }, 'reading.alternatives'],
  ])('a gate check is refused when its camera reading has %s', async (_, reading, field) => {
    const { ask } = await whitelistOf([]);
    expect(await ask(reading as Reading)).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } });
  });

  test('a gate check must contain either a plate or a camera reading, and the gateway refuses a gate check with both or with neither', async () => {
    const { key, locationId } = await gateway.newTenant();
    const plate = '{ plateType: "DXB", plateCode: "A", plateNumber: "1" }';
    for (const args of ['', `, plate: ${plate}, reading: { text: "A 1" }`, ', plate: null, reading: null']) {
      const { body } = await gateway.graph(
        `{ plateAccess(locationId: "${locationId}"${args}) { allowed } }`,
        {
          key,
        },
      );
      expect(body.errors[0].extensions).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'plate' },
      });
    }
  });

  test('a gate check of a text that a camera read uses one SQL statement, even when the text could mean many plates', async () => {
    const { ask } = await whitelistOf(['DXB B 1']);
    // The test does not count the SQL statements of the first request, because the first request also looks up the API
    // key.
    await ask('A 1');
    const statements = await statementsOfRequest(() => ask({ text: '8 I', alternatives: ['B I', 'B 1'] }, 1));
    expect(statements).toHaveLength(1);
  });

  test("a gate check of a camera reading gets NOT_FOUND at a location outside the API key's scope", async () => {
    const { locationId } = await whitelistOf(['DXB A 1']);
    const { key } = await gateway.newTenant();
    const query = `{ plateAccess(locationId: "${locationId}", reading: { text: "A 1" }) { allowed } }`;
    expect((await gateway.graph(query, { key })).body.errors[0].extensions.code).toBe('NOT_FOUND');
  });
});

describe('matching of camera texts and plates', () => {
  // The test builds plates from only a few characters, so that one text that a camera read often matches several
  // plates.
  const plate = fc
    .record({
      plateType: fc.constantFrom('DX', 'DXB', 'XB', 'AUH'),
      plateCode: fc.oneof(fc.constant('White'), fc.stringMatching(/^[AaB1]{1,3}$/)),
      plateNumber: fc.stringMatching(/^[12]{1,4}$/),
    })
    .map(shown);
  const separator = fc.constantFrom('', '', ' ', '-', '.', ' – ', '\u200f');
  const digits = fc.constantFrom((text: string) => text, arabic, persian, wide);
  const textOf = ({ plateType, plateCode, plateNumber }: Plate, isWithType: boolean) =>
    `${isWithType ? plateType : ''}${plateCode}${plateNumber}`;

  test('the text that a camera read matches a whitelist entry even when the text contains separators, such as dots', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(plate, { minLength: 1, maxLength: 25 }),
        fc.infiniteStream(fc.tuple(fc.boolean(), separator, digits)),
        async (plates, writing) => {
          const { ask } = await whitelistOf(plates);
          const asked = plates.map((listed) => {
            const [isWithType, between, rewritten] = writing.next().value;
            const text = textOf(plateOf(listed), isWithType);
            return { listed, text, written: rewritten(text.split('').join(between).toLowerCase()) };
          });
          await Promise.all(
            asked.map(async ({ listed, text, written }) => {
              const fitting = plates.filter((other) =>
                [true, false].some(
                  (isWithType) => textOf(plateOf(other), isWithType).toUpperCase() === text.toUpperCase(),
                ),
              );
              const { allowed, entry, candidates } = await ask({ text: written });
              expect(fitting).toContain(listed);
              expect({ allowed, entry }).toEqual(
                fitting.length === 1 ? { allowed: true, entry: listed } : { allowed: false, entry: null },
              );
              expect([...candidates].sort()).toEqual(fitting.length === 1 ? [] : fitting.sort());
            }),
          );
        },
      ),
      { numRuns: 15 },
    );
  });

  test('in a text that a camera read, the gateway finds all possible plate numbers at the end, and never takes the whole text as the plate number', () => {
    expect(numbersIn('DXBA123')).toEqual(['123', '23', '3']);
    expect(numbersIn('A12345')).toEqual(['12345', '2345', '345']);
    expect(numbersIn('DXBWHITE7')).toEqual(['7']);
    expect(numbersIn('12345')).toEqual(['2345', '345', '45']);
    expect(numbersIn('ABC')).toEqual([]);
    expect(numbersIn('')).toEqual([]);
  });

  test('the gateway ignores a zero width space at the end of a plate text that a camera read', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(plateText(text)).toBe(plateText(`${text}\u200b`));
      }),
    );
  });

  test('when a plate text that a camera read is already normalized, normalizing the text again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = plateText(text);
        expect(plateText(once)).toBe(once);
      }),
      // The first example text is the letter U+1FD2, whose capital form has three code points. The second example text
      // is the letter A, a hyphen and a combining mark. The gateway removes hyphens.
      { examples: [['\u1fd2'], ['A-\u0301']] },
    );
  });
});

describe('parking events with a text that a camera read', () => {
  const at = (minute: number) => new Date(Date.parse('2026-03-01T08:00:00Z') + minute * 60_000).toISOString();

  async function record(key: string, locationId: string, input: Record<string, unknown>) {
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $input) {
        id plateType plateCode plateNumber text confidence listed entry { id } updatedAt } }`,
      {
        key,
        variables: { locationId, input: { eventId: newId(), kind: 'ENTRY', occurredAt: at(0), ...input } },
      },
    );
    return body.errors?.[0].extensions ?? body.data.recordParkingEvent;
  }

  async function sessionsOf(key: string, locationId: string) {
    const { body } = await gateway.graph(
      `{ parkingSessions(locationId: "${locationId}") { nodes { plateType plateNumber state } } }`,
      { key },
    );
    return body.data.parkingSessions.nodes;
  }

  test('a parking event is stored with the text that a camera read and with the matching whitelist entry', async () => {
    const { key, locationId } = await whitelistOf(['DXB A 12345']);
    const event = await record(key, locationId, { reading: { text: 'a 12345', confidence: 0.93 } });
    expect(event).toMatchObject({
      plateType: 'DXB',
      plateCode: 'A',
      plateNumber: '12345',
      text: 'a 12345',
      confidence: 0.93,
      listed: true,
      entry: { id: expect.any(String) },
    });
    await record(key, locationId, {
      kind: 'EXIT',
      occurredAt: at(5),
      plate: plateOf('DXB A 12345'),
    });
    expect(await sessionsOf(key, locationId)).toEqual([
      { plateType: 'DXB', plateNumber: '12345', state: 'COMPLETED' },
    ]);
  });

  test('the gateway records a parking event even when the text that a camera read matches no whitelist entry or several entries', async () => {
    const { key, locationId } = await whitelistOf(['DXB A1 2', 'DXB A 12']);
    expect(await record(key, locationId, { reading: { text: 'x-99' } })).toMatchObject({
      plateType: '',
      plateCode: '',
      plateNumber: 'X99',
      text: 'x-99',
      confidence: null,
      listed: false,
      entry: null,
    });
    await record(key, locationId, { kind: 'EXIT', occurredAt: at(9), reading: { text: 'X 99' } });
    await record(key, locationId, { reading: { text: 'A 12', plateType: 'AUH' } });
    expect(await record(key, locationId, { occurredAt: at(9), reading: { text: 'A 12' } })).toMatchObject({
      entry: null,
    });
    expect(await sessionsOf(key, locationId)).toEqual([
      { plateType: '', plateNumber: 'A12', state: 'OPEN' },
      { plateType: 'AUH', plateNumber: 'A12', state: 'MISSED_EXIT' },
      { plateType: '', plateNumber: 'X99', state: 'COMPLETED' },
    ]);
  });

  test('when a gate sends a parking event again, the stored event stays unchanged, even if a new whitelist entry matches the text that the camera read', async () => {
    const { key, locationId } = await whitelistOf([]);
    const input = { eventId: 'same', reading: { text: 'A 1', confidence: 0.5 } };
    const first = await record(key, locationId, input);
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, {
      key,
      body: newEntry({ ...plateOf('DXB A 1') }),
    });
    expect(await record(key, locationId, input)).toEqual(first);
    const corrected = await record(key, locationId, { ...input, reading: { text: 'A 1', confidence: 0.9 } });
    expect(corrected).toMatchObject({ id: first.id, plateType: 'DXB', confidence: 0.9, listed: true });
  });

  test('when a parking event contains a whitelist entry id and a text that a camera read, the event gets the plate of the whitelist entry', async () => {
    const { key, locationId } = await whitelistOf(['DXB B 1']);
    const { id: entryId } = await prisma.whitelistEntry.findFirstOrThrow({ where: { locationId } });
    const input = { eventId: 'same', entryId, reading: { text: '8 1', plateType: 'SHJ' } };
    const first = await record(key, locationId, input);
    expect(first).toMatchObject({ plateType: 'DXB', plateCode: 'B', text: '8 1', entry: { id: entryId } });
    expect(await record(key, locationId, input)).toEqual(first);
  });

  test('one batch may contain both parking events with plates and parking events with texts that a camera read', async () => {
    const { key, locationId } = await whitelistOf(['DXB A 1']);
    const events = [
      { reading: { text: 'A 1' } },
      { plate: plateOf('DXB A 2') },
      {},
      { reading: { text: '-' } },
      { plate: plateOf('DXB A 1'), reading: { text: 'A 1' } },
    ].map((plate, index) => ({ eventId: `e${index}`, kind: 'ENTRY', occurredAt: at(index), ...plate }));
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $events: [ParkingEventInput!]!) { recordParkingEvents(locationId: $locationId, events: $events) {
        recorded rows { index error { field message } } } }`,
      { key, variables: { locationId, events } },
    );
    expect(body.data.recordParkingEvents).toMatchObject({
      recorded: 2,
      rows: [
        { index: 2, error: { field: 'plate', message: 'Exactly one of plate and reading is required' } },
        { index: 3, error: { field: 'reading.text' } },
        { index: 4, error: { field: 'plate' } },
      ],
    });
    const matched = await prisma.parkingEvent.findFirstOrThrow({ where: { locationId, eventId: 'e0' } });
    expect(matched).toMatchObject({ plateType: 'DXB', text: 'A 1', listed: true });
  });

  test('to record a parking event with the text that a camera read, an API key needs only the permission WRITE_ACTIVITY', async () => {
    const { locationId } = await whitelistOf(['DXB A 1']);
    const key = await gateway.newKey({ locationIds: [locationId], permissions: ['WRITE_ACTIVITY'] });
    const { body } = await gateway.graph(
      `mutation ($locationId: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $input) { listed } }`,
      {
        key,
        variables: {
          locationId,
          input: { eventId: 'e', kind: 'ENTRY', occurredAt: at(0), reading: { text: 'A 1' } },
        },
      },
    );
    expect(body.data.recordParkingEvent).toEqual({ listed: true });
  });
});
