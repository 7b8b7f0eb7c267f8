import fc from 'fast-check';
import { expect, test } from 'vitest';
import { historyBounds } from '../../src/parking/history-points.ts';

/**
 * Time zones in which the clocks change by half an hour, by an hour, by a day or at midnight, and time zones without
 * clock changes.
 */
const timezones = [
  'UTC',
  'Asia/Dubai',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'America/Havana',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Atlantic/Azores',
  'Pacific/Apia',
];

const stepMs = 15 * 60_000;
const anyInstant = fc.date({
  min: new Date('2005-01-01T00:00:00Z'),
  max: new Date('2026-01-01T00:00:00Z'),
  noInvalidDate: true,
});

test('each day of the occupancy history starts when the local date changes, even on days on which the clocks change', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...timezones),
      anyInstant,
      fc.integer({ min: 1, max: 12 }),
      (timezone, from, days) => {
        const format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone });
        const dateOf = (at: number) => format.format(new Date(at));
        const to = new Date(from.getTime() + days * 24 * 3_600_000);
        const starts: number[] = [];
        const begin = Math.floor(from.getTime() / stepMs) * stepMs;
        let first = begin;
        while (dateOf(first - stepMs) === dateOf(begin)) first -= stepMs;
        for (let at = first; ; at += stepMs) {
          if (at !== first && dateOf(at) === dateOf(at - stepMs)) continue;
          starts.push(at);
          if (at >= to.getTime()) break;
        }
        expect(historyBounds(from, to, 'DAY', timezone).map(Number)).toEqual(starts);
      },
    ),
    { numRuns: 150 },
  );
});

test.each([
  ['the clocks go forward', '2026-03-28T12:00:00Z', [24, 23, 24]],
  ['the clocks go back', '2026-10-24T12:00:00Z', [24, 25, 24]],
])('a day of the occupancy history in Berlin has 23 or 25 hours when %s', (_, from, hours) => {
  const to = new Date(Date.parse(from) + 2 * 24 * 3_600_000);
  const bounds = historyBounds(new Date(from), to, 'DAY', 'Europe/Berlin').map(Number);
  expect(bounds.slice(1).map((bound, index) => (bound - bounds[index]!) / 3_600_000)).toEqual(hours);
});

test.each([
  ['HOUR', 'Asia/Kathmandu', '2026-03-01T00:14:59.999Z', '2026-02-28T23:15:00.000Z'],
  ['QUARTER_HOUR', 'Asia/Kathmandu', '2026-03-01T00:14:59.999Z', '2026-03-01T00:00:00.000Z'],
  ['HOUR', 'Asia/Dubai', '2026-03-01T00:59:00.000Z', '2026-03-01T00:00:00.000Z'],
] as const)(
  'with the interval %s in the time zone %s, the occupancy history starts at a full hour or quarter hour of local time',
  (interval, timezone, from, first) => {
    const [start] = historyBounds(new Date(from), new Date('2026-03-01T02:00:00Z'), interval, timezone);
    expect(start!.toISOString()).toBe(first);
  },
);

test.each([
  ['before the clocks go back by half an hour', '2026-04-04T12:30:00Z', ['23', '00', '01', '02', '03', '04']],
  [
    'after the clocks went back by half an hour',
    '2026-04-04T15:20:00Z',
    ['01', '02', '03', '04', '05', '06', '07'],
  ],
  ['before the clocks go forward by half an hour', '2026-10-03T13:30:00Z', ['00', '01', '03', '04', '05']],
  [
    'after the clocks went forward by half an hour',
    '2026-10-03T15:50:00Z',
    ['01', '03', '04', '05', '06', '07', '08'],
  ],
])(
  'each hour of an occupancy history that starts %s begins at a full hour of local time',
  (_, from, hours) => {
    const to = new Date(Date.parse(from) + 4.5 * 3_600_000);
    const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'Australia/Lord_Howe', timeStyle: 'short' });
    const starts = historyBounds(new Date(from), to, 'HOUR', 'Australia/Lord_Howe');
    expect(starts.map((start) => format.format(start))).toEqual(hours.map((hour) => `${hour}:00`));
  },
);
