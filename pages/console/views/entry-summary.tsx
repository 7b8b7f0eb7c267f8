/** @jsxImportSource react */
import type { EntryFieldsFragment } from '../generated/operations.ts';
import { texts } from '../texts.ts';
import { Plate } from '../ui/plate.tsx';
import { Time } from '../ui/time.tsx';

const { whitelist: words } = texts;

/** Returns the weekly hours of a whitelist entry as text. */
export const hoursText = (hours: EntryFieldsFragment['hours']): string =>
  hours.length === 0
    ? words.allHours
    : hours
        .map(({ days, from, to }) => `${days.map((day) => words.days[day]).join(' ')} ${from}–${to}`)
        .join('; ');

/** Returns the number of recorded entries of a vehicle and its maximum number of entries, as text such as `2 / 5`. */
export const usesText = ({ entriesRecorded, maxEntries }: EntryFieldsFragment): string =>
  maxEntries === null ? String(entriesRecorded) : `${entriesRecorded} / ${maxEntries}`;

/** Shows the start and the end of the period in which a whitelist entry is valid. */
export function Validity({ entry, zone }: { entry: EntryFieldsFragment; zone: string | undefined }) {
  const { validFrom, validUntil } = entry;
  if (!validFrom && !validUntil) return <>–</>;
  return (
    <>
      {validFrom && <Time at={validFrom} zone={zone} />} –{' '}
      {validUntil && <Time at={validUntil} zone={zone} />}
    </>
  );
}

/** Shows a whitelist entry as a short text. */
export function EntrySummary({ entry, zone }: { entry: EntryFieldsFragment; zone: string | undefined }) {
  return (
    <p>
      <Plate of={entry} /> {entry.referenceId} · {hoursText(entry.hours)} ·{' '}
      <Validity entry={entry} zone={zone} /> · {words.uses}: {usesText(entry)}
    </p>
  );
}
