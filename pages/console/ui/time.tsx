/** @jsxImportSource react */
import { createContext, useContext } from 'react';
import { texts } from '../texts.ts';

/**
 * The time zone in which the console shows times: `location` means the time zone of the location, and `reader` means
 * the time zone of the user's device.
 */
export type Clock = 'location' | 'reader';

export const ClockContext = createContext<Clock>('location');

/** The IANA name of this device's time zone. */
export const readerZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * Returns the time zone in which the console shows the times of a location. The user chooses between the time zone of
 * the location and the time zone of this device.
 */
export function useZone(locationZone: string | undefined): string {
  const clock = useContext(ClockContext);
  return clock === 'location' && locationZone ? locationZone : readerZone;
}

/** The parts of a time that the console shows: the time of day, the date, or both (`full`). */
type TimeParts = 'time' | 'date' | 'full';

const optionsOf = {
  year: { year: 'numeric' },
  time: { hour: '2-digit', minute: '2-digit' },
  date: { day: 'numeric', month: 'short' },
  full: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
} as const satisfies Record<TimeParts | 'year', Intl.DateTimeFormatOptions>;

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the date format for the given parts of a time. Creating a date format is slow, so the function keeps each
 * date format in memory and reuses it.
 */
function formatOf(parts: keyof typeof optionsOf, zone: string, withYear: boolean): Intl.DateTimeFormat {
  const name = `${zone} ${parts} ${withYear}`;
  const format =
    formats.get(name) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      ...optionsOf[parts],
      ...(withYear && optionsOf.year),
    });
  formats.set(name, format);
  return format;
}

/**
 * Returns the year that the console shows with a date, or `undefined` if the date is in the current year. The function
 * compares the year of the date with the current year in the given time zone.
 */
export function shownYear(at: string | number | Date, zone: string): string | undefined {
  const format = formatOf('year', zone, true);
  const year = format.format(new Date(at));
  return year === format.format(new Date()) ? undefined : year;
}

/**
 * Formats a time as text in the given time zone. The returned text contains the year only if the date is not in the
 * current year.
 */
export function timeText(at: string | number | Date, zone: string, parts: TimeParts = 'full'): string {
  const withYear = parts !== 'time' && shownYear(at, zone) !== undefined;
  return formatOf(parts, zone, withYear).format(new Date(at));
}

/**
 * Shows a time in the time zone that the user has chosen: the time zone of the location or of this device. A tooltip
 * shows the same time in the one of these two time zones that the user has not chosen. If the time does not belong to a
 * location, the tooltip shows the time in UTC.
 */
export function Time({
  at,
  zone: locationZone,
  parts = 'full',
}: {
  at: string | null | undefined;
  zone?: string | undefined;
  parts?: TimeParts;
}) {
  const zone = useZone(locationZone);
  if (!at) return <>{texts.state.never}</>;
  const other = zone === readerZone ? (locationZone ?? 'UTC') : readerZone;
  return (
    <time dateTime={at} title={`${timeText(at, other)} ${other}`}>
      {timeText(at, zone, parts)}
    </time>
  );
}

/**
 * Converts the value of a `datetime-local` field, which is in the time zone of this device, to an instant in UTC.
 * Returns `undefined` if the form field is empty. If the value is not a valid time, for example because the year has
 * five digits, the function returns the value unchanged. When the form sends the invalid time to the gateway, the
 * gateway responds with an error message for this form field.
 */
export function instantOf(local: string): string | undefined {
  if (!local) return undefined;
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** Converts an instant to the value of a `datetime-local` field, which is in the time zone of this device. */
export function localOf(instant: string | null | undefined): string {
  if (!instant) return '';
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/**
 * Converts the value of a `datetime-local` field to an instant in UTC. If the user has not edited the form field, the
 * function returns the original instant. If the function converted the value of an unedited form field, it would lose
 * the seconds of the original instant. When the clocks are set back, a local time occurs twice, so the conversion could
 * also return another instant than the original one.
 */
export const editedInstant = (text: string, original: string | null | undefined): string | null =>
  (text === localOf(original) ? original : instantOf(text)) ?? null;
