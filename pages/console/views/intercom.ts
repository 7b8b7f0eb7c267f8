import type { WhyQuery } from '../generated/operations.ts';
import { texts } from '../texts.ts';
import { shownYear } from '../ui/time.tsx';

const { sentences, spoken } = texts.why;

type Decision = NonNullable<WhyQuery['plateAccess']>;
type Hours = NonNullable<Decision['entry']>['hours'][number];
type Day = Hours['days'][number];

const week = Object.keys(spoken.days) as Day[];

/**
 * Joins several texts into one text, as in an English sentence: one text becomes `a`, two texts become `a and b`, and
 * three texts become `a, b and c`.
 */
const listed = (parts: readonly string[]) =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${spoken.and} ${parts.at(-1)}`;

/** Returns the names of days of the week. Three or more consecutive days become a range such as `Monday to Friday`. */
function daysText(days: readonly Day[]): string {
  if (days.length === week.length) return spoken.everyDay;
  const runs: Day[][] = [];
  for (const day of week.filter((each) => days.includes(each))) {
    const run = runs.at(-1);
    if (run && week.indexOf(run.at(-1)!) + 1 === week.indexOf(day)) run.push(day);
    else runs.push([day]);
  }
  const names = runs.flatMap((run) => {
    const all = run.map((day) => spoken.days[day]);
    return all.length > 2 ? [spoken.dayToDay(all[0]!, all.at(-1)!)] : all;
  });
  return listed(names);
}

function timesText({ from, to }: Hours): string {
  if (from === '00:00' && to === '24:00') return spoken.allDay;
  return spoken.fromTo(from, to <= from ? spoken.nextDay(to) : to);
}

/** Returns weekly hours as spoken text, such as `Monday to Friday from 07:00 to 19:00`. */
const hoursText = (hours: readonly Hours[]) =>
  listed(hours.map((each) => `${daysText(each.days)} ${timesText(each)}`));

/** Returns a date and time as spoken text in local time, such as `Saturday 21 November at 23:21`. */
function instantText(at: string, zone: string): string {
  const text = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options }).format(new Date(at));
  const year = shownYear(at, zone);
  const date = text({ weekday: 'long', day: 'numeric', month: 'long' }).replace(',', '');
  const time = text({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return spoken.dateAt(year ? `${date} ${year}` : date, time);
}

/**
 * Returns a sentence that the operator at the intercom can say to the driver. Depending on the reason of the gate
 * decision, the sentence for the driver contains a value, such as the time at which the permit ended.
 *
 * @param options.zone the time zone of the location
 * @param options.quota the maximum number of vehicles of the same reference (such as an apartment) that may be inside;
 *   `undefined` if the quota is not known
 */
export function intercomSentence(
  { reason, entry }: Pick<Decision, 'reason' | 'entry'>,
  { zone, quota }: { zone: string; quota: number | undefined },
): string {
  const plain = sentences[reason];
  if (!entry) return plain;
  const { validFrom, validUntil, hours, maxEntries, entriesRecorded, referenceId } = entry;
  if (reason === 'NOT_YET_VALID' && validFrom) return spoken.begins(instantText(validFrom, zone));
  if (reason === 'EXPIRED' && validUntil) return spoken.ended(instantText(validUntil, zone));
  if (reason === 'OUTSIDE_HOURS' && hours.length > 0) return spoken.validAt(hoursText(hours));
  if (reason === 'QUOTA_REACHED' && quota !== undefined) return spoken.quota(referenceId, quota);
  if (reason === 'USED_UP' && maxEntries !== null) return spoken.usedUp(maxEntries);
  if (reason === 'LISTED' && maxEntries !== null) {
    return `${plain} ${spoken.entriesLeft(Math.max(0, maxEntries - entriesRecorded - 1))}`;
  }
  return plain;
}
