import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plateDifferences, similarPlates } from '../../src/whitelist/similar-plates.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();

/**
 * Creates a location whose whitelist contains the given plates, such as `DXB B 123`. Returns a function that requests
 * a gate decision for a given plate.
 */
async function whitelistOf(...entries: (string | Record<string, unknown>)[]) {
  const { key, locationId } = await gateway.newTenant();
  for (const entry of entries) {
    const body = newEntry(typeof entry === 'string' ? plateOf(entry) : entry);
    expect((await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body })).status).toBe(
      201,
    );
  }
  return async (reading: string, tolerance: number | null = 1) => {
    const { body } = await gateway.graph(
      `query ($locationId: ID!, $plate: PlateInput!, $tolerance: Int) {
        plateAccess(locationId: $locationId, plate: $plate, tolerance: $tolerance) {
          allowed reason entry { plateCode plateNumber }
          candidates { entry { plateCode plateNumber } differences { field position read listed } } } }`,
      { key, variables: { locationId, plate: plateOf(reading), tolerance } },
    );
    return body.errors?.[0].extensions ?? body.data.plateAccess;
  };
}

function plateOf(text: string) {
  const [plateType = '', plateCode = '', plateNumber = ''] = text.split(' ');
  return { plateType, plateCode, plateNumber };
}

describe('gate checks of a plate with a tolerance for similar characters', () => {
  test.each([
    ['DXB 8 123', 'DXB B 123', { field: 'plateCode', position: 1, read: '8', listed: 'B' }],
    ['DXB O1 5', 'DXB 01 5', { field: 'plateCode', position: 1, read: 'O', listed: '0' }],
    ['DXB A I23', 'DXB A 123', { field: 'plateNumber', position: 1, read: 'I', listed: '1' }],
    ['DXB A 12S', 'DXB A 125', { field: 'plateNumber', position: 3, read: 'S', listed: '5' }],
    ['DXB Z 1', 'DXB 2 1', { field: 'plateCode', position: 1, read: 'Z', listed: '2' }],
    ['5HJ 1 1', 'SHJ 1 1', { field: 'plateType', position: 1, read: '5', listed: 'S' }],
  ])(
    'with a tolerance of one character, the plate %s matches the whitelist entry %s, and the response lists the different character',
    async (read, listed, difference) => {
      const ask = await whitelistOf(listed);
      const { plateCode, plateNumber } = plateOf(listed);
      expect(await ask(read)).toEqual({
        allowed: true,
        reason: 'LISTED',
        entry: { plateCode, plateNumber },
        candidates: [{ entry: { plateCode, plateNumber }, differences: [difference] }],
      });
    },
  );

  test('with a tolerance for similar characters, a gate check prefers an exact match to a similar plate', async () => {
    const ask = await whitelistOf('DXB B 1', 'DXB 8 1');
    expect(await ask('DXB 8 1')).toEqual({
      allowed: true,
      reason: 'LISTED',
      entry: { plateCode: '8', plateNumber: '1' },
      candidates: [],
    });
  });

  test('a gate admits no vehicle when the plate that the gate sends is similar to several whitelist entries', async () => {
    const ask = await whitelistOf('DXB B 81', 'DXB 8B 1', 'DXB 8 81');
    expect(await ask('DXB 8 B1')).toMatchObject({
      allowed: true,
      candidates: [{ entry: { plateCode: '8', plateNumber: '81' } }],
    });
    const ambiguous = await whitelistOf('DXB B 15', 'DXB 8 15', 'DXB SO 1', 'DXB 50 1');
    expect(await ambiguous('DXB 8 I5')).toMatchObject({ allowed: true });
    expect(await ambiguous('DXB 5O 1')).toMatchObject({
      allowed: false,
      reason: 'NOT_LISTED',
      entry: null,
      candidates: [{ entry: { plateCode: 'SO' } }, { entry: { plateCode: '50' } }],
    });
  });

  test('an expired whitelist entry with a similar plate admits no vehicle', async () => {
    const ask = await whitelistOf({ ...plateOf('DXB B 1'), validUntil: '2020-01-01T00:00:00Z' });
    expect(await ask('DXB 8 1')).toMatchObject({
      allowed: false,
      reason: 'EXPIRED',
      candidates: [{ entry: { plateCode: 'B' } }],
    });
  });

  test.each([
    ['two characters that cameras confuse', 'DXB B 8', 'DXB 8 B'],
    ['a character that cameras do not confuse', 'DXB A 1', 'DXB A 7'],
    ['an additional character', 'DXB A 1', 'DXB A 11'],
    ['upper and lower case only', 'DXB b 1', 'DXB B 1'],
  ])(
    'a gate check with a tolerance answers NOT_LISTED when the checked plate differs from the whitelisted plate by %s',
    async (_, listed, read) => {
      const ask = await whitelistOf(listed);
      expect(await ask(read)).toEqual({ allowed: false, reason: 'NOT_LISTED', entry: null, candidates: [] });
    },
  );

  test('a gate check with the tolerance null or 0 compares plates exactly', async () => {
    const ask = await whitelistOf('DXB B 1');
    const exact = { allowed: false, reason: 'NOT_LISTED', entry: null, candidates: [] };
    expect(await ask('DXB 8 1', 0)).toEqual(exact);
    expect(await ask('DXB 8 1', null)).toEqual(exact);
    expect(await ask('DXB A I', 0)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'plateNumber', value: 'I' },
    });
  });

  test.each([
    [2, 'DXB A 1', 'tolerance'],
    [-1, 'DXB A 1', 'tolerance'],
    [1, 'DXB A 1-2', 'plateNumber'],
    [1, 'DXBXX A 1', 'plateType'],
  ])(
    'a gate check is refused when its tolerance (%s) or its plate (%s) is invalid',
    async (tolerance, read, field) => {
      const ask = await whitelistOf();
      expect(await ask(read, tolerance)).toMatchObject({ code: 'VALIDATION_ERROR', details: { field } });
    },
  );

  test('a gate check with a tolerance for similar characters uses one SQL statement', async () => {
    const ask = await whitelistOf('DXB B 1');
    const statements = await statementsOfRequest(() => ask('DXB 8 1'));
    expect(statements).toHaveLength(1);
  });
});

/**
 * The maximum number of plates that are similar to one plate in these tests. These tests generate plates with at most
 * 27 characters, and cameras confuse each character with at most one other character.
 */
const maxSimilarPlates = 27;

describe('similar plates', () => {
  const plate = fc.record({
    plateType: fc.stringMatching(/^[A-Z0-9]{2,4}$/),
    plateCode: fc.stringMatching(/^[A-Za-z0-9]{1,3}$/),
    plateNumber: fc.stringMatching(/^[A-Z0-9]{1,20}$/),
  });

  test('the list of similar plates contains each plate once, and each plate in the list differs from the given plate in one character', () => {
    fc.assert(
      fc.property(plate, (read) => {
        const [first, ...others] = similarPlates(read);
        expect(first).toEqual(read);
        expect(others.length).toBeLessThanOrEqual(maxSimilarPlates);
        for (const other of others) expect(plateDifferences(read, other)).toHaveLength(1);
        expect(new Set(others.map((other) => JSON.stringify(other))).size).toBe(others.length);
      }),
    );
  });

  test('when plate A is similar to plate B, plate B is similar to plate A', () => {
    fc.assert(
      fc.property(plate, (read) => {
        for (const other of similarPlates(read)) expect(similarPlates(other)).toContainEqual(read);
      }),
    );
  });
});
