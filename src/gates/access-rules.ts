import type { AccessReason, Quota, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { hoursOf } from '../whitelist/columns.ts';
import { hoursText, wallTime, weekdays } from '../whitelist/hours.ts';
import { invalidity, isWithinEntryHours } from '../whitelist/validity.ts';

/** A whitelist entry, with the other data that the rules of a decision check. */
export interface AccessFacts {
  entry: WhitelistEntry;
  /** The time zone of the location, in which the hours of an entry apply. */
  timezone: string;
  /**
   * How many times the vehicle of the entry has entered. The number is known only for an entry with a limit of entries.
   */
  recorded: number | null;
  /** The quota of the entry's reference. null when the reference has no quota. */
  quota: QuotaUse | null;
}

/** A quota, and how many other vehicles of the reference use it. */
interface QuotaUse extends Pick<Quota, 'inside' | 'enforcement'> {
  /** The number of other vehicles of the reference that are inside the location. */
  used: number;
}

/** A rule that a vehicle with a whitelist entry must pass. */
interface AccessRule {
  name: string;
  /** Whether a failure of the rule is only reported. The vehicle is then admitted anyway. */
  isReportedOnly?: (facts: AccessFacts) => boolean;
  /** Returns the reason to refuse the vehicle by this rule, or null when the vehicle passes the rule. */
  objection: (facts: AccessFacts, at: Date) => AccessReason | null;
  /** Returns the finding of the rule as text for the person at the intercom. */
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

/** The vehicle itself does not count towards the quota, because a new entry of the vehicle ends its earlier stay. */
const quotaRule: AccessRule = {
  name: 'quota',
  isReportedOnly: ({ quota }) => quota?.enforcement === 'REPORT',
  objection: ({ quota }) => (quota && quota.used >= quota.inside ? 'QUOTA_REACHED' : null),
  detail: ({ entry: { referenceId }, quota }) =>
    quota
      ? `${quota.used} other vehicles of ${referenceId} are inside; the quota is ${quota.inside}${quota.enforcement === 'REPORT' ? '; only reported' : ''}`
      : `No quota for ${referenceId}`,
};

/** The rules of a decision in the order in which they apply. The first rule that refuses gives the reason. */
const rules = [validRule, hoursRule, quotaRule, usesRule];

function firstObjection(facts: AccessFacts, at: Date): AccessReason {
  for (const { objection, isReportedOnly } of rules) {
    const reason = objection(facts, at);
    if (reason && !isReportedOnly?.(facts)) return reason;
  }
  return 'LISTED';
}

/** Returns why a vehicle may or may not enter. The reason is `LISTED` when every rule admits the vehicle. */
export const accessReason = (facts: AccessFacts | null, at: Date): AccessReason =>
  facts ? firstObjection(facts, at) : 'NOT_LISTED';

/** Whether the quota of a vehicle's reference is reached, even if the quota is only reported and not enforced. */
export const isQuotaReached = (facts: AccessFacts | null, at: Date): boolean =>
  facts !== null && quotaRule.objection(facts, at) !== null;

/** The result of one rule of a gate decision. */
export interface AccessCheck {
  name: string;
  passed: boolean;
  detail: string;
}

/**
 * Returns the results of all rules for a vehicle with an entry, including the rules after the first rule that refused.
 */
export const checksOf = (facts: AccessFacts, at: Date): AccessCheck[] =>
  rules.map(({ name, objection, detail }) => ({
    name,
    passed: objection(facts, at) === null,
    detail: detail(facts, at),
  }));
