import { describe, expect, test } from 'vitest';
import { maxCountedEntries } from '../../src/gates/statements.ts';
import { newId } from '../../src/ids.ts';
import { newEntry, sharedTestGateway } from '../support/harness.ts';
import { statementsOfRequest } from '../support/statements.ts';

const gateway = await sharedTestGateway();

const plateOf = (number: number) => ({ plateType: 'DXB', plateCode: 'A', plateNumber: String(number) });

/** Creates a location with a quota of two vehicles for a reference with `entries` whitelist entries. */
async function newSite(entries: number) {
  const { key, locationId } = await gateway.newTenant();
  const ask = async (operation: string, variables: Record<string, unknown> = {}) => {
    const { body } = await gateway.graph(operation, { key, variables: { locationId, ...variables } });
    expect(body.errors).toBeUndefined();
    return body.data;
  };
  await ask(
    `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
      importWhitelistEntries(locationId: $locationId, entries: $entries) { created }
      setQuota(locationId: $locationId, referenceId: "staff", inside: 2) { inside } }`,
    {
      entries: Array.from({ length: entries }, (_, index) =>
        newEntry({ ...plateOf(index), referenceId: 'staff' }),
      ),
    },
  );
  return {
    enter: (number: number) =>
      ask(
        `mutation ($locationId: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $locationId, input: $input) { id } }`,
        {
          input: {
            eventId: newId(),
            kind: 'ENTRY',
            plate: plateOf(number),
            occurredAt: new Date().toISOString(),
          },
        },
      ),
    /** Requests gate decisions in one request, and returns a reason and the result of the quota rule for each. */
    async decide(...numbers: number[]): Promise<string[]> {
      const data = await ask(
        `query ($locationId: ID!) { ${numbers
          .map(
            (number) =>
              `n${number}: plateAccess(locationId: $locationId, plate: { plateType: "DXB", plateCode: "A", plateNumber: "${number}" }) { reason checks { name detail } }`,
          )
          .join(' ')} }`,
      );
      return numbers.map((number) => {
        const { reason, checks } = data[`n${number}`] as {
          reason: string;
          checks: { name: string; detail: string }[];
        };
        return `${reason}: ${checks.find(({ name }) => name === 'quota')!.detail}`;
      });
    },
  };
}

describe('the quota of a reference with many whitelist entries', () => {
  test.each([maxCountedEntries, maxCountedEntries + 1])(
    'a gate decision counts the other vehicles inside when the reference has %i entries',
    async (entries) => {
      const { enter, decide } = await newSite(entries);
      await enter(0);
      expect(await decide(0, 1)).toEqual([
        'LISTED: 0 other vehicles of staff are inside; the quota is 2',
        'LISTED: 1 other vehicles of staff are inside; the quota is 2',
      ]);
      await enter(1);
      expect(await decide(0, 2)).toEqual([
        'LISTED: 1 other vehicles of staff are inside; the quota is 2',
        'QUOTA_REACHED: 2 other vehicles of staff are inside; the quota is 2',
      ]);
    },
  );

  test('one SQL statement counts the vehicles of the quota for all gate decisions of a request', async () => {
    const { decide } = await newSite(maxCountedEntries + 1);
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    expect(await statementsOfRequest(() => decide(...numbers))).toHaveLength(2);
  });

  test('concurrent requests of one API key wait for the running count, and share the next one', async () => {
    const { decide } = await newSite(maxCountedEntries + 1);
    const numbers = Array.from({ length: 30 }, (_, index) => index);
    const statements = await statementsOfRequest(() => Promise.all(numbers.map((number) => decide(number))));
    const counts = statements.filter((statement) => statement.includes('AS "ofEntries"'));
    expect(counts.length).toBeGreaterThan(0);
    expect(counts.length).toBeLessThan(numbers.length);
  });
});
