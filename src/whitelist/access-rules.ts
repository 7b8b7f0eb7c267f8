import type { AccessReason, Quota, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { hoursOf } from './columns.ts';
import { hoursText, isWithinHours, wallTime, weekdays } from './hours.ts';

/** An entry, and what else the rules of a decision look at. */
export interface AccessFacts {
  entry: WhitelistEntry;
  /** The time zone of the location, by whose clocks hours count. */
  timezone: string;
  /** How many entries of its vehicle were recorded, as far as they are limited. */
  recorded: number | null;
  /** The quota of its reference; null when there is none. */
  quota: QuotaUse | null;
}

/** A quota, and how much of it other vehicles of the reference use. */
interface QuotaUse extends Pick<Quota, 'inside' | 'enforcement'> {
  /** How many other vehicles are inside. */
  used: number;
}

/** A rule that a listed vehicle has to pass. */
interface AccessRule {
  name: string;
  /** Whether what the rule finds is only reported. */
  isReportedOnly?: (facts: AccessFacts) => boolean;
  /** What is against an entry by this rule; null when nothing is. */
  objection: (facts: AccessFacts, at: Date) => AccessReason | null;
  /** What the rule found, in words for the person at the intercom. */
  detail: (facts: AccessFacts, at: Date) => string;
}

const textOfEnd = (end: Date | null, otherwise: string) => end?.toISOString() ?? otherwise;

const validRule: AccessRule = {
  name: 'valid',
  objection({ entry: { validFrom, validUntil } }, at) {
    if (validFrom && at < validFrom) return 'NOT_YET_VALID';
    return validUntil && at >= validUntil ? 'EXPIRED' : null;
  },
  detail: ({ entry: { validFrom, validUntil } }) =>
    `From ${textOfEnd(validFrom, 'any time')} until ${textOfEnd(validUntil, 'any time')}`,
};

const hoursRule: AccessRule = {
  name: 'hours',
  objection({ entry, timezone }, at) {
    const hours = hoursOf(entry);
    return hours.length === 0 || isWithinHours(hours, wallTime(at, timezone)) ? null : 'OUTSIDE_HOURS';
  },
  detail({ entry, timezone }, at) {
    const { day, time } = wallTime(at, timezone);
    return `${hoursText(hoursOf(entry)) || 'At all times'}; it is ${weekdays[day]} ${time} in ${timezone}`;
  },
};

const usesRule: AccessRule = {
  name: 'uses',
  objection: ({ entry: { maxEntries }, recorded }) =>
    maxEntries !== null && (recorded ?? 0) >= maxEntries ? 'USED_UP' : null,
  detail: ({ entry: { maxEntries }, recorded }) =>
    maxEntries === null ? 'Any number of entries' : `${recorded ?? 0} of ${maxEntries} entries were recorded`,
};

/** The vehicle itself does not count: when it comes in again, its earlier stay has ended. */
const quotaRule: AccessRule = {
  name: 'quota',
  isReportedOnly: ({ quota }) => quota?.enforcement === 'REPORT',
  objection: ({ quota }) => (quota && quota.used >= quota.inside ? 'QUOTA_REACHED' : null),
  detail: ({ entry: { referenceId }, quota }) =>
    quota
      ? `${quota.used} other vehicles of ${referenceId} are inside, ${quota.inside} may be${quota.enforcement === 'REPORT' ? '; only reported' : ''}`
      : `No quota for ${referenceId}`,
};

/** The rules of time, which hold for a moment whatever happened since. */
const rulesOfTime = [validRule, hoursRule];

/** The rules of a decision, in the order in which they are looked at; the first that refuses gives the reason. */
const rules = [...rulesOfTime, quotaRule, usesRule];

function firstObjection(asked: readonly AccessRule[], facts: AccessFacts, at: Date): AccessReason {
  for (const { objection, isReportedOnly } of asked) {
    const reason = objection(facts, at);
    if (reason && !isReportedOnly?.(facts)) return reason;
  }
  return 'LISTED';
}

/** Why a vehicle may or may not enter: `LISTED` when every rule lets it in. */
export const accessReason = (facts: AccessFacts | null, at: Date): AccessReason =>
  facts ? firstObjection(rules, facts, at) : 'NOT_LISTED';

/** Whether an entry lets its vehicle in at a time, by its validity and its hours. */
export const isListedAt = (entry: WhitelistEntry, timezone: string, at: Date): boolean =>
  firstObjection(rulesOfTime, { entry, timezone, recorded: null, quota: null }, at) === 'LISTED';

/** Whether the quota of a vehicle's reference is reached, also when that is only reported. */
export const isQuotaReached = (facts: AccessFacts | null, at: Date): boolean =>
  facts !== null && quotaRule.objection(facts, at) !== null;

/** What a rule found. */
export interface AccessCheck {
  name: string;
  passed: boolean;
  detail: string;
}

/** What every rule found for a listed vehicle, those behind one that refused too. */
export const checksOf = (facts: AccessFacts, at: Date): AccessCheck[] =>
  rules.map(({ name, objection, detail }) => ({
    name,
    passed: objection(facts, at) === null,
    detail: detail(facts, at),
  }));

/** The condition that an entry is valid at a time, as SQL: the rule `valid`. */
export const isValidAt = (entry: string, at: string) =>
  `(${entry}."validFrom" IS NULL OR ${entry}."validFrom" <= ${at}) AND (${entry}."validUntil" IS NULL OR ${entry}."validUntil" > ${at})`;
