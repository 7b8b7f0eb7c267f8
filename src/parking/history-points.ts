import { wallTime } from '../whitelist/hours.ts';

/** The time between two data points of an occupancy history. */
export type HistoryInterval = 'QUARTER_HOUR' | 'HOUR' | 'DAY';

/**
 * The maximum number of data points in one occupancy history. A month of 31 days has 744 hours, so a client can request
 * the hourly history of a whole month.
 */
export const maxHistoryPoints = 750;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const lengthMs: Record<HistoryInterval, number> = {
  QUARTER_HOUR: 15 * minuteMs,
  HOUR: hourMs,
  DAY: dayMs,
};

/**
 * Estimates how many data points an occupancy history has. For the estimate, the caller does not need the time zone of
 * the location. The gateway uses this estimate to compute the rate limit cost of a request for an occupancy history,
 * before it reads the location from the database. The gateway also rejects a request for more than `maxHistoryPoints`
 * data points. The estimated number of data points can differ from the exact number by one, for example when daylight
 * saving time begins or ends.
 */
export const approximatePoints = (from: Date, to: Date, interval: HistoryInterval): number =>
  Math.max(0, Math.ceil((to.getTime() - from.getTime()) / lengthMs[interval]));

const dateOf = (at: number, timezone: string) => wallTime(new Date(at), timezone).date;

/**
 * Returns the time at which a date begins in a time zone.
 *
 * @param before any time before the start of the day `date`, in milliseconds
 * @param within any time on `date` or on a later date, in milliseconds
 */
function startOfDate(date: string, before: number, within: number, timezone: string): number {
  let [early, late] = [before, within];
  while (late - early > minuteMs) {
    const middle = Math.floor((early + late) / 2 / minuteMs) * minuteMs;
    if (dateOf(middle, timezone) >= date) late = middle;
    else early = middle;
  }
  return late;
}

/** Returns the start of the local day that contains an instant. */
function startOfDay(at: number, timezone: string): number {
  const minute = Math.floor(at / minuteMs) * minuteMs;
  return startOfDate(dateOf(minute, timezone), minute - 2 * dayMs, minute, timezone);
}

/** Returns the start of the local day that follows the day of `start`. */
function startOfNextDay(start: number, timezone: string): number {
  const date = dateOf(start, timezone);
  const usual = start + dayMs;
  const isStart = dateOf(usual, timezone) > date && dateOf(usual - minuteMs, timezone) === date;
  if (isStart) return usual;
  let later = usual;
  while (dateOf(later, timezone) <= date) later += hourMs;
  return startOfDate(dateOf(later, timezone), start, later, timezone);
}

/**
 * Returns the start of the local hour, or of the local quarter hour, that contains an instant. In some time zones, such
 * as UTC+5:30, an hour of local time does not begin at the same time as an hour of UTC.
 */
function startOfPart(at: number, length: number, timezone: string): number {
  const minute = Math.floor(at / minuteMs) * minuteMs;
  const [, minutes = '0'] = wallTime(new Date(minute), timezone).time.split(':');
  const start = minute - ((Number(minutes) * minuteMs) % length);
  // If the clocks changed by half an hour between `start` and `minute`, the local time at `start` is not a full hour.
  // `startOfPart` therefore calls itself until the result no longer changes.
  return start < minute ? startOfPart(start, length, timezone) : start;
}

/**
 * Returns a function that takes the start of an interval, and returns the start of the next interval.
 *
 * @param first the start of the first interval, in milliseconds
 * @param to the end of the occupancy history, in milliseconds; each start that the caller passes to the returned
 *   function is before this end
 */
function nextStart(first: number, to: number, interval: HistoryInterval, timezone: string) {
  if (interval === 'DAY') return (start: number) => startOfNextDay(start, timezone);
  const length = lengthMs[interval];
  const end = first + Math.ceil((to - first) / length) * length;
  const isEven = startOfPart(end, length, timezone) === end;
  // If the clocks change by half an hour, the interval with the change is longer than the other intervals.
  return (start: number) => (isEven ? start + length : startOfPart(start + 1.5 * length, length, timezone));
}

/**
 * Returns the starts of consecutive intervals, followed by the end of the last interval. The first interval contains
 * `from`, and the last interval starts before `to`. An interval of one day is a local day, which has 23 to 25 hours
 * when the clocks change. An interval of one hour has 90 minutes when the clocks change by half an hour.
 */
export function historyBounds(from: Date, to: Date, interval: HistoryInterval, timezone: string): Date[] {
  const first =
    interval === 'DAY'
      ? startOfDay(from.getTime(), timezone)
      : startOfPart(from.getTime(), lengthMs[interval], timezone);
  const next = nextStart(first, to.getTime(), interval, timezone);
  const bounds = [first];
  for (let last = first; last < to.getTime(); bounds.push(last)) last = next(last);
  return bounds.map((at) => new Date(at));
}
