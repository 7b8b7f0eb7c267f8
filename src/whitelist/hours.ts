// The weekly hours of a whitelist entry define when the vehicle of the entry may enter, in the location's local time.

/** The days of a week, in the order of ISO 8601. */
export const weekdays = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const;
export type Weekday = (typeof weekdays)[number];

/**
 * A time span that repeats every week, from one time of day until another time of day. When `to` is earlier than
 * `from`, the time span ends on the next day.
 */
export interface WeeklyHours {
  /** The weekdays on which the allowed time span starts. */
  days: readonly Weekday[];
  /** The start of the time span in local time, from `00:00` to `23:59`. */
  from: string;
  /** The end of the time span in local time, from `00:00` to `24:00`. */
  to: string;
}

/**
 * The maximum number of weekly time spans of one whitelist entry. 21 weekly time spans are enough for three time spans
 * on each day.
 */
export const maxWeeklyHours = 21;

/** The date, the weekday and the time that a clock in a time zone shows at an instant. */
export interface WallTime {
  /** The date that the clock shows, for example `2026-03-29`. */
  date: string;
  /** The day of the week, from 0 for Monday to 6 for Sunday. */
  day: number;
  /** The time of day, from `00:00` to `23:59`. */
  time: string;
}

const shortNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/**
 * The cached date formatters, with one formatter for each time zone. Creating a date formatter takes far longer than
 * formatting a date.
 */
const formats = new Map<string, Intl.DateTimeFormat>();
/**
 * The maximum number of cached date formatters. There are fewer than 1,000 time zones, but the cache has a separate
 * formatter for each spelling, such as `Asia/Dubai` and `asia/dubai`. Without a limit on the number of formatters, a
 * client could therefore fill the memory of the gateway with date formatters.
 */
const maxFormats = 1_000;

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timezone, format);
  return format;
}

/** Converts an instant to the local time of a time zone. */
export function wallTime(at: Date, timezone: string): WallTime {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return {
    date: `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`,
    day: shortNames.indexOf(parts.get('weekday')!),
    time: `${parts.get('hour')}:${parts.get('minute')}`,
  };
}

/**
 * Whether a local time lies within the weekly hours of a whitelist entry. When daylight saving time ends, one hour of
 * local time occurs twice. When the clocks are set back, weekly hours within the repeated hour apply both times. When
 * daylight saving time begins, one hour of local time is skipped. On the day on which this hour is skipped, weekly
 * hours within the skipped hour do not apply.
 */
export function isWithinHours(
  hours: readonly WeeklyHours[],
  { day, time }: Pick<WallTime, 'day' | 'time'>,
): boolean {
  const today = weekdays[day]!;
  const yesterday = weekdays[(day + 6) % 7]!;
  return hours.some(({ days, from, to }) =>
    from < to
      ? days.includes(today) && from <= time && time < to
      : (days.includes(today) && from <= time) || (days.includes(yesterday) && time < to),
  );
}

/** Returns weekly hours as text for people, such as `MONDAY, TUESDAY 07:00 to 19:00`. */
export const hoursText = (hours: readonly WeeklyHours[]) =>
  hours.map(({ days, from, to }) => `${days.join(', ')} ${from} to ${to}`).join('; ');
