import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { hoursOf } from './columns.ts';
import { isWithinHours, wallTime } from './hours.ts';

// A whitelist entry lets its vehicle enter during the validity period of the entry, and only within its weekly hours.

/**
 * Returns the reason why a whitelist entry is not valid at a given time, or null when the whitelist entry is valid. A
 * whitelist entry becomes valid at `validFrom`, and is no longer valid at `validUntil`.
 */
export function invalidity(
  { validFrom, validUntil }: Pick<WhitelistEntry, 'validFrom' | 'validUntil'>,
  at: Date,
): 'NOT_YET_VALID' | 'EXPIRED' | null {
  if (validFrom && at < validFrom) return 'NOT_YET_VALID';
  return validUntil && at >= validUntil ? 'EXPIRED' : null;
}

/**
 * The SQL condition that is true when a whitelist entry is valid at a given time. The TypeScript function `invalidity`
 * uses the same rule as this SQL condition.
 */
export const isValidAt = (entry: string, at: string) =>
  `(${entry}."validFrom" IS NULL OR ${entry}."validFrom" <= ${at}) AND (${entry}."validUntil" IS NULL OR ${entry}."validUntil" > ${at})`;

/**
 * Whether a given time lies within the weekly hours of a whitelist entry, in the time zone of its location. If the
 * whitelist entry has no weekly hours, the result is always true.
 */
export const isWithinEntryHours = (
  entry: Pick<WhitelistEntry, 'hours'>,
  timezone: string,
  at: Date,
): boolean => {
  const hours = hoursOf(entry);
  return hours.length === 0 || isWithinHours(hours, wallTime(at, timezone));
};

/**
 * Whether a whitelist entry allows its vehicle to enter at a given time. The function checks the validity period and
 * the weekly hours of the whitelist entry.
 */
export const isListedAt = (entry: WhitelistEntry, timezone: string, at: Date): boolean =>
  invalidity(entry, at) === null && isWithinEntryHours(entry, timezone, at);
