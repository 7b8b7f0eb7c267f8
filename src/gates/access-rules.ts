import type { AccessReason, Quota, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { hoursOf } from '../whitelist/columns.ts';
import { hoursText, wallTime, weekdays } from '../whitelist/hours.ts';
import { invalidity, isWithinEntryHours } from '../whitelist/validity.ts';

/** A whitelist entry, with all other data that the rules of a decision need. */
export interface AccessFacts {
  entry: WhitelistEntry;
  /** The time zone of the location, to which the weekly hours of the entry refer. */
  timezone: string;
  /** How many times the vehicle of the entry has entered. The number is known only if the entry has a limit. */
  recorded: number | null;
  /** The quota for the reference of the entry; null when the reference has no quota. */
  quota: QuotaUse | null;
}

/** A quota, with the number of other vehicles of the reference that are inside. */
interface QuotaUse extends Pick<Quota, 'inside' | 'enforcement'> {
  /** How many other vehicles of the reference are inside the location. */
  used: number;
}

/** A rule that decides whether a vehicle with a whitelist entry may enter. */
interface AccessRule {
  name: string;
  /** Whether a violation of the rule is only reported. The vehicle may then enter anyway. */
  isReportedOnly?: (facts: AccessFacts) => boolean;
  /** Returns the reason why this rule refuses the vehicle, or null when the rule lets it pass. */
  objection: (facts: AccessFacts, at: Date) => AccessReason | null;
  /** Describes the result of the rule for the person at the intercom. */
  detail: (facts: AccessFacts, at: Date) => string;
}

const textOfEnd = (end: Date | null, otherwise: string) => end?.toISOString() ?? otherwise;

const validRule: AccessRule = {
  name: 'valid',
  objection: ({ entry }, at) => invalidity(entry, at),
  detail: ({ entry: { validFrom, validUntil } }) =>
    `From ${textOfEnd(validFrom, 'any time')} until ${textOfEnd(validUntil, 'any time')}`,
};

const hoursRule: AccessRule = {
  name: 'hours',
  objection: ({ entry, timezone }, at) => (isWithinEntryHours(entry, timezone, at) ? null : 'OUTSIDE_HOURS'),
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

/** The vehicle itself does not count towards the quota. When it enters again, its earlier stay ends. */
const quotaRule: AccessRule = {
  name: 'quota',
  isReportedOnly: ({ quota }) => quota?.enforcement === 'REPORT',
  objection: ({ quota }) => (quota && quota.used >= quota.inside ? 'QUOTA_REACHED' : null),
  detail: ({ entry: { referenceId }, quota }) =>
    quota
      ? `${quota.used} other vehicles of ${referenceId} are inside; the quota is ${quota.inside}${quota.enforcement === 'REPORT' ? '; only reported' : ''}`
      : `No quota for ${referenceId}`,
};

/** The rules of a decision, in their order. The first rule that refuses the vehicle gives the reason. */
const rules = [validRule, hoursRule, quotaRule, usesRule];

function firstObjection(facts: AccessFacts, at: Date): AccessReason {
  for (const { objection, isReportedOnly } of rules) {
    const reason = objection(facts, at);
    if (reason && !isReportedOnly?.(facts)) return reason;
  }
  return 'LISTED';
}

/** Returns why a vehicle may or may not enter. The reason is `LISTED` when all rules let the vehicle pass. */
export const accessReason = (facts: AccessFacts | null, at: Date): AccessReason =>
  facts ? firstObjection(facts, at) : 'NOT_LISTED';

/**
 * Whether the quota for the vehicle's reference is reached. The result does not depend on whether the quota is enforced
 * or only reported.
 */
export const isQuotaReached = (facts: AccessFacts | null, at: Date): boolean =>
  facts !== null && quotaRule.objection(facts, at) !== null;

/** The result of one rule of a gate decision. */
export interface AccessCheck {
  name: string;
  passed: boolean;
  detail: string;
}

/**
 * Returns the results of all rules for a vehicle with a whitelist entry, including the rules after the first refusal.
 */
export const checksOf = (facts: AccessFacts, at: Date): AccessCheck[] =>
  rules.map(({ name, objection, detail }) => ({
    name,
    passed: objection(facts, at) === null,
    detail: detail(facts, at),
  }));
