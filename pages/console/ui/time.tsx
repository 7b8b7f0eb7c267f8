/** @jsxImportSource react */
import { createContext, useContext } from 'react';
import { texts } from '../texts.ts';

/** The time zone in which times are shown: the time zone of the location, or of this device. */
export type Clock = 'location' | 'reader';

export const ClockContext = createContext<Clock>('location');

/** The IANA name of this device's time zone. */
export const readerZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the time zone in which to show the times of a location. The user chooses it. */
export function useZone(locationZone: string | undefined): string {
  const clock = useContext(ClockContext);
  return clock === 'location' && locationZone ? locationZone : readerZone;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats an instant as text in a time zone. */
export function timeText(
  at: string | number | Date,
  zone: string,
  parts: 'time' | 'date' | 'full' = 'full',
): string {
  const name = `${zone} ${parts}`;
  const format =
    formats.get(name) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      ...(parts !== 'time' && { day: 'numeric', month: 'short' }),
      ...(parts !== 'date' && { hour: '2-digit', minute: '2-digit' }),
    });
  formats.set(name, format);
  return format.format(new Date(at));
}

/** Shows an instant in the chosen time zone. A tooltip shows it in the other time zone. */
export function Time({
  at,
  zone: locationZone,
}: {
  at: string | null | undefined;
  zone?: string | undefined;
}) {
  const zone = useZone(locationZone);
  if (!at) return <>{texts.state.never}</>;
  const other = zone === readerZone ? (locationZone ?? 'UTC') : readerZone;
  return (
    <time dateTime={at} title={`${timeText(at, other)} ${other}`}>
      {timeText(at, zone)}
    </time>
  );
}

/**
 * Converts the value of a `datetime-local` field to an instant, in the time zone of this device. The result is
 * undefined for an empty field.
 */
export const instantOf = (local: string): string | undefined =>
  local ? new Date(local).toISOString() : undefined;

/** Converts an instant to the value of a `datetime-local` field, in the time zone of this device. */
export function localOf(instant: string | null | undefined): string {
  if (!instant) return '';
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
