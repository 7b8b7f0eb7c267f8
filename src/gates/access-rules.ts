import type { AccessReason, Quota, WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { hoursOf } from '../whitelist/columns.ts';
import { hoursText, wallTime, weekdays } from '../whitelist/hours.ts';
import { invalidity, isWithinEntryHours } from '../whitelist/validity.ts';

/** A whitelist entry that matches a vehicle, and the other data that the database returns with this entry. */
export interface MatchedEntry {
  entry: WhitelistEntry;
  /** The time zone of the location, to which the weekly hours of the whitelist entry refer. */
  timezone: string;
  /**
   * How many times the vehicle of a whitelist entry with `maxEntries` has entered. `recorded` is null if the whitelist
   * entry does not limit how many times the vehicle may enter, or if the vehicle has not entered yet.
   */
  recorded: number | null;
  /**
   * The quota for the reference (such as an apartment) of the whitelist entry, or null when the reference has no quota.
   */
  quota: Pick<Quota, 'inside' | 'enforcement'> | null;
  /**
   * The number of other vehicles inside the location that belong to the same reference (such as an apartment) as the
   * vehicle that wants to enter. `quotaUsed` is null if the reference has no quota, or if the database has not counted
   * the vehicles, because the reference has many whitelist entries.
   */
  quotaUsed: number | null;
}

/** The data that the rules of a gate decision need: the whitelist entry of the vehicle, and the use of its quota. */
export interface AccessFacts extends MatchedEntry {
  /** The counted number of vehicles, or 0 if the reference has no quota. */
  quotaUsed: number;
}

/** A rule that decides whether a vehicle with a whitelist entry may enter. */
interface AccessRule {
  name: string;
  /** Returns true if the gateway admits vehicles that violate this rule, and only reports each violation. */
  isReportedOnly?: (facts: AccessFacts) => boolean;
  /** Returns the reason why the rule refuses a vehicle, or null when the vehicle passes the rule. */
  objection: (facts: AccessFacts, at: Date) => AccessReason | null;
  /** Returns a sentence that describes the result of the rule, so that staff can explain the decision to the driver. */
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

/**
 * The rule that refuses a vehicle if its entry would exceed the quota. An earlier stay of the entering vehicle does not
 * count towards the quota, because the gateway ends this stay when the vehicle enters again.
 */
const quotaRule: AccessRule = {
  name: 'quota',
  isReportedOnly: ({ quota }) => quota?.enforcement === 'REPORT',
  objection: ({ quota, quotaUsed }) => (quota && quotaUsed >= quota.inside ? 'QUOTA_REACHED' : null),
  detail: ({ entry: { referenceId }, quota, quotaUsed }) =>
    quota
      ? `${quotaUsed} other vehicles of ${referenceId} are inside; the quota is ${quota.inside}${quota.enforcement === 'REPORT' ? '; only reported' : ''}`
      : `No quota for ${referenceId}`,
};

/**
 * The rules of a gate decision, in the order in which they are checked. The reason in a gate decision comes from the
 * first rule that refuses the vehicle.
 */
const rules = [validRule, hoursRule, quotaRule, usesRule];

function firstObjection(facts: AccessFacts, at: Date): AccessReason {
  for (const { objection, isReportedOnly } of rules) {
    const reason = objection(facts, at);
    if (reason && !isReportedOnly?.(facts)) return reason;
  }
  return 'LISTED';
}

/**
 * Returns the reason why a vehicle may or may not enter. The reason is `LISTED` when all rules let the vehicle pass.
 */
export const accessReason = (facts: AccessFacts | null, at: Date): AccessReason =>
  facts ? firstObjection(facts, at) : 'NOT_LISTED';

/**
 * Whether the reference of a vehicle, such as an apartment, has reached its quota. `isQuotaReached` does not depend on
 * whether the gateway enforces the quota or only reports violations.
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
 * Checks a vehicle with a whitelist entry against all rules, even after one rule has refused the vehicle. For each
 * access rule, the function returns the result of the check.
 */
export const checksOf = (facts: AccessFacts, at: Date): AccessCheck[] =>
  rules.map(({ name, objection, detail }) => ({
    name,
    passed: objection(facts, at) === null,
    detail: detail(facts, at),
  }));
