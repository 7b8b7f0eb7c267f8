import { describe, expect, test } from 'vitest';
import { intercomSentence } from '../../pages/console/views/intercom.ts';

type Decision = Parameters<typeof intercomSentence>[0];
type Entry = NonNullable<Decision['entry']>;

const entry: Entry = {
  ...{ id: '1', locationId: '2', referenceId: 'unit-12', version: 1, vehicleType: null, note: null },
  ...{ plateType: 'DXB', plateCode: 'A', plateNumber: '7', entriesRecorded: 0, maxEntries: null },
  ...{ validFrom: null, validUntil: null, hours: [] },
};
const say = (reason: Decision['reason'], fields: Partial<Entry> = {}, quota?: number) =>
  intercomSentence({ reason, entry: { ...entry, ...fields } }, { zone: 'Asia/Dubai', quota });
const hours = (days: Entry['hours'][number]['days'], from: string, to: string) => ({ days, from, to });

describe('sentences that the intercom page shows', () => {
  test('the intercom page shows when the validity of a whitelist entry starts or ends, in the local time of the location', () => {
    const year = new Date().getUTCFullYear();
    expect(say('EXPIRED', { validUntil: `${year}-03-21T21:30:00Z` })).toMatch(
      /^Your permit ended on \w+day 22 March at 01:30\. Please ask for a new permit\.$/,
    );
    expect(say('NOT_YET_VALID', { validFrom: '2031-01-01T04:00:00Z' })).toBe(
      'Your permit begins on Wednesday 1 January 2031 at 08:00. Please come back then.',
    );
  });

  test.each<[string, Entry['hours']]>([
    [
      'Monday to Friday from 07:00 to 19:00',
      [hours(['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'], '07:00', '19:00')],
    ],
    [
      'Saturday and Sunday all day and Monday from 22:00 to 06:00 on the next day',
      [hours(['SATURDAY', 'SUNDAY'], '00:00', '24:00'), hours(['MONDAY'], '22:00', '06:00')],
    ],
    [
      'every day from 06:00 to 22:00',
      [
        hours(
          ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'],
          '06:00',
          '22:00',
        ),
      ],
    ],
    ['Monday and Wednesday all day', [hours(['WEDNESDAY', 'MONDAY'], '00:00', '24:00')]],
  ])('the intercom page says at which hours a permit is valid: %s', (spoken, given) => {
    expect(say('OUTSIDE_HOURS', { hours: given })).toBe(
      `Your permit is valid ${spoken}. Please come back then.`,
    );
  });

  test('when the quota of a reference (such as an apartment) is reached, the intercom page shows how many vehicles of this reference may be inside at the same time', () => {
    expect(say('QUOTA_REACHED', {}, 2)).toBe(
      'unit-12 may have 2 vehicles inside at a time, and all its places are taken. You can enter as soon as a vehicle of unit-12 leaves.',
    );
    expect(say('QUOTA_REACHED', {}, 0)).toBe('No vehicle of unit-12 may enter at the moment.');
    expect(say('QUOTA_REACHED')).toContain('All places of your unit are taken');
  });

  test('for a whitelist entry with a limited number of uses (a pass), the intercom page shows how many uses the pass allows, or how many uses are left', () => {
    expect(say('USED_UP', { maxEntries: 1, entriesRecorded: 1 })).toBe(
      'Your pass was for 1 entry and has been used up. Please ask for a new pass.',
    );
    expect(say('LISTED', { maxEntries: 4, entriesRecorded: 2 })).toContain('has 1 entry left');
    expect(say('LISTED', { maxEntries: 4, entriesRecorded: 3 })).toContain('the last entry of your pass');
  });

  test('for a vehicle without a pass, a quota or a validity period, the intercom page shows only whether the vehicle is on the whitelist', () => {
    expect(
      intercomSentence({ reason: 'NOT_LISTED', entry: null }, { zone: 'UTC', quota: undefined }),
    ).toContain('not on the list');
    expect(say('LISTED')).toBe('You are on the list: please drive in.');
  });
});
