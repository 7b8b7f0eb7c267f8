import { invalidField } from '../src/errors/error-table.ts';
import {
  approximatePoints,
  historyBounds,
  type HistoryInterval as HistoryIntervalName,
  maxHistoryPoints,
} from '../src/parking/history-points.ts';
import type { OccupancyPoint as Point } from '../src/parking/occupancy-history.ts';
import { builder } from './builder.ts';
import { Location } from './location.ts';
import { instant } from './instant.ts';

const defaultInterval = 'HOUR' satisfies HistoryIntervalName;

/**
 * The fixed part of the cost of the field `occupancyHistory`: the cost of reading the parking sessions. For each data
 * point, each field that the client selects adds 1 to the cost.
 */
const readingCost = 20;

const HistoryInterval = builder.enumType('HistoryInterval', {
  description: 'The time between two data points of an occupancy history.',
  values: {
    QUARTER_HOUR: {
      description:
        "15 minutes. An interval starts at minute 0, 15, 30 or 45 of an hour in the location's local time.",
    },
    HOUR: {
      description:
        "One hour. An interval starts at a full hour in the location's local time. An interval lasts 90 minutes instead if the clocks change by half an hour during the interval.",
    },
    DAY: {
      description:
        "One day in the location's time zone. A day on which daylight saving time starts or ends has 23 or 25 hours.",
    },
  } satisfies Record<HistoryIntervalName, unknown>,
});

const OccupancyPoint = builder.objectRef<Point>('OccupancyPoint').implement({
  description:
    'A data point of the occupancy history: the number of vehicles inside a location at one time, and the numbers of entries and exits until the next data point.',
  fields: (t) => ({
    at: t.expose('at', {
      type: 'DateTime',
      description:
        'The time of the data point: the start of the time interval that the data point describes.',
    }),
    occupied: t.exposeInt('occupied', {
      description:
        'Number of vehicles inside at the start of the interval. `occupied` includes the effects of parking events that arrived late or were corrected later.',
    }),
    entries: t.exposeInt('entries', { description: 'Number of vehicles that entered in the interval.' }),
    exits: t.exposeInt('exits', { description: 'Number of vehicles that left in the interval.' }),
  }),
});

interface HistoryPeriod {
  from: Date;
  to: Date;
  interval: HistoryIntervalName;
}

const tooManyPoints = ({ from, interval }: HistoryPeriod) =>
  invalidField(
    'from',
    `At most ${maxHistoryPoints} points are allowed: move \`from\` closer to \`to\`, or use a longer interval than ${interval}`,
    from,
  );

/**
 * Returns the times of the data points in an occupancy history, followed by the end of the last interval. An occupancy
 * history has no data points in the future, so the function returns an empty list for a time range in the future.
 *
 * @throws {ServiceError} `VALIDATION_ERROR` when the time range is empty, or would contain too many data points
 */
function boundsOf(period: HistoryPeriod, timezone: string): Date[] {
  const { from, to, interval } = period;
  if (from >= to) throw invalidField('from', 'Must be before `to`', from);
  if (approximatePoints(from, to, interval) > maxHistoryPoints) throw tooManyPoints(period);
  const end = new Date(Math.min(to.getTime(), Date.now()));
  if (from >= end) return [];
  const bounds = historyBounds(from, end, interval, timezone);
  if (bounds.length - 1 > maxHistoryPoints) throw tooManyPoints(period);
  return bounds;
}

/**
 * Returns the approximate number of data points in an occupancy history. The cost of the field `occupancyHistory` grows
 * with the number of data points. For an invalid time range, the number of data points is 0.
 */
function pointsOf({ from, to, interval }: Readonly<Record<string, unknown>>): number {
  const period = [from, to].map((value) => new Date(String(value)));
  if (period.some((at) => Number.isNaN(at.getTime()))) return 0;
  const points = approximatePoints(
    period[0]!,
    period[1]!,
    (interval ?? defaultInterval) as HistoryIntervalName,
  );
  return Math.min(points, maxHistoryPoints);
}

builder.objectField(Location, 'occupancyHistory', (t) =>
  t.field({
    type: [OccupancyPoint],
    permission: 'READ_ACTIVITY',
    complexity: { field: readingCost, multiplier: pointsOf },
    description: `The occupancy history of the location with the numbers of entries and exits, oldest data point first. The time of the first data point is the start of the interval that contains \`from\`. The last data point is before \`to\` and not in the future. A history has at most ${maxHistoryPoints} data points, and each data point increases the cost of the request.`,
    args: {
      from: t.arg({
        type: 'DateTime',
        required: true,
        description:
          'Start of the period. The first interval of the history is the interval that contains `from`.',
        validate: instant,
      }),
      to: t.arg({
        type: 'DateTime',
        required: true,
        description:
          'End of the period. If the requested period ends during an interval, the occupancy history contains this whole interval.',
        validate: instant,
      }),
      interval: t.arg({
        type: HistoryInterval,
        defaultValue: defaultInterval,
        description: 'The interval between two data points of the occupancy history.',
      }),
    },
    resolve({ id, timezone }, { from, to, interval }, { services: { parking } }) {
      const bounds = boundsOf({ from, to, interval: interval ?? defaultInterval }, timezone);
      return bounds.length === 0 ? [] : parking.occupancyHistory({ locationId: id, bounds });
    },
  }),
);
