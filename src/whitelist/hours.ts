// When in a week an entry lets its vehicle in, by the clocks on the wall of the location.

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

/** A time of the week: from a time of day on, and before another; on the next day when that is the earlier one. */
export interface WeeklyHours {
  /** The days on which it begins. */
  days: readonly Weekday[];
  /** `00:00` to `23:59`. */
  from: string;
  /** `00:00` to `24:00`. */
  to: string;
}

/** The most times of the week of an entry: three for each day. */
export const maxWeeklyHours = 21;

/** A moment by the clocks on the wall of a place. */
export interface WallTime {
  /** From 0 for Monday to 6 for Sunday. */
  day: number;
  /** `00:00` to `23:59`. */
  time: string;
}

const shortNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Formats for time zones, since making one takes far longer than using it. */
const formats = new Map<string, Intl.DateTimeFormat>();
/** More than there are time zones: names in other letters count too. */
const maxFormats = 1_000;

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timezone, format);
  return format;
}

/** What the clocks on the wall show in a time zone. */
export function wallTime(at: Date, timezone: string): WallTime {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return {
    day: shortNames.indexOf(parts.get('weekday')!),
    time: `${parts.get('hour')}:${parts.get('minute')}`,
  };
}

/**
 * Whether a moment lies within hours; without any it always does. What counts is what the clocks show: of an hour that
 * they show twice both are in, and one that they leave out never comes.
 */
export function isWithinHours(hours: readonly WeeklyHours[], { day, time }: WallTime): boolean {
  const today = weekdays[day]!;
  const yesterday = weekdays[(day + 6) % 7]!;
  return (
    hours.length === 0 ||
    hours.some(({ days, from, to }) =>
      from < to
        ? days.includes(today) && from <= time && time < to
        : (days.includes(today) && from <= time) || (days.includes(yesterday) && time < to),
    )
  );
}

/** Hours as people read them: `MONDAY to FRIDAY 07:00 to 19:00`. */
export const hoursText = (hours: readonly WeeklyHours[]) =>
  hours.map(({ days, from, to }) => `${days.join(', ')} ${from} to ${to}`).join('; ');
