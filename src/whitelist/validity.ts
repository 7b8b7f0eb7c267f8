import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { hoursOf } from './columns.ts';
import { isWithinHours, wallTime } from './hours.ts';

// A whitelist entry lets its vehicle enter during the validity period of the entry, and only within its weekly hours.

/**
 * Returns why an entry is not valid at a given time, or null when the entry is valid. The entry is valid from
 * `validFrom` on, and is no longer valid at `validUntil`.
 */
export function invalidity(
  { validFrom, validUntil }: Pick<WhitelistEntry, 'validFrom' | 'validUntil'>,
  at: Date,
): 'NOT_YET_VALID' | 'EXPIRED' | null {
  if (validFrom && at < validFrom) return 'NOT_YET_VALID';
  return validUntil && at >= validUntil ? 'EXPIRED' : null;
}

/** The SQL condition that an entry is valid at a given time, by the same rule as `invalidity`. */
export const isValidAt = (entry: string, at: string) =>
  `(${entry}."validFrom" IS NULL OR ${entry}."validFrom" <= ${at}) AND (${entry}."validUntil" IS NULL OR ${entry}."validUntil" > ${at})`;

/** Whether a given time lies within the weekly hours of an entry, in the time zone of its location. */
export const isWithinEntryHours = (
  entry: Pick<WhitelistEntry, 'hours'>,
  timezone: string,
  at: Date,
): boolean => {
  const hours = hoursOf(entry);
  return hours.length === 0 || isWithinHours(hours, wallTime(at, timezone));
};

/** Whether an entry allows its vehicle to enter at a given time, by its validity period and its weekly hours. */
export const isListedAt = (entry: WhitelistEntry, timezone: string, at: Date): boolean =>
  invalidity(entry, at) === null && isWithinEntryHours(entry, timezone, at);
