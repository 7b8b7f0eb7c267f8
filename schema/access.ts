import { z } from 'zod';
import { AccessReason as reasons } from '../prisma/generated/client/enums.ts';
import { invalidField } from '../src/errors/error-table.ts';
import { parseInput } from '../src/errors/faults.ts';
import {
  accessChecks,
  type AccessCandidate as Candidate,
  type AccessDecision as Decision,
  maxCandidates,
} from '../src/gates/access-decision.ts';
import { type AccessCheck, isQuotaReached } from '../src/gates/access-rules.ts';
import type { PlateDifference } from '../src/whitelist/similar-plates.ts';
import { builder } from './builder.ts';
import { hasOnePlate, onePlateMessage, plateReadingRule, ReadingInput } from './plate-reading.ts';
import { instant } from './instant.ts';
import { locationIdArg } from './location.ts';
import { formedText, wholeNumber } from './rules.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';

/** The reason why a vehicle is allowed or not allowed to enter. */
export const AccessReason = builder.enumType(reasons, {
  name: 'AccessReason',
  description: 'The reason why the gateway allows or denies entry to a vehicle.',
  values: {
    LISTED: { description: 'The plate is in the whitelist, and no rule denies entry.' },
    NOT_LISTED: { description: 'The plate is not in the whitelist.' },
    NOT_YET_VALID: {
      description:
        'The plate has a whitelist entry, but the validity period of this entry has not started yet.',
    },
    EXPIRED: { description: 'The whitelist entry of the plate is no longer valid.' },
    OUTSIDE_HOURS: {
      description: 'The time of the decision is outside the weekly hours of the whitelist entry.',
    },
    QUOTA_REACHED: {
      description:
        "The quota of the vehicle's reference (such as an apartment) is full, so no other vehicle of this reference may enter.",
    },
    USED_UP: { description: 'The vehicle has already entered as often as `maxEntries` allows.' },
  },
});

/**
 * Validates the plate type, the plate code and the plate number that a camera has read. The camera may have misread
 * some characters. The rule accepts letters and digits in every part of the plate, because cameras confuse letters with
 * similar digits.
 */
const tolerantPlateRule = z.object({
  plateType: formedText(/^[A-Z0-9]{2,4}$/, 'Invalid plate type format'),
  plateCode: plateRule.shape.plateCode,
  plateNumber: formedText(/^[A-Z0-9]{1,20}$/, 'Invalid plate number format'),
});

const PlateDifferenceType = builder.objectRef<PlateDifference>('PlateDifference').implement({
  description:
    'A character that differs between the plate in the request and the plate of a whitelist entry.',
  fields: (t) => ({
    field: t.exposeString('field', { description: '`plateType`, `plateCode` or `plateNumber`.' }),
    position: t.exposeInt('position', {
      description: 'Position of the character in the plate type, plate code or plate number, counted from 1.',
    }),
    read: t.exposeString('read', {
      description: 'The character at this position in the plate of the request.',
    }),
    listed: t.exposeString('listed', {
      description: 'The character at this position in the plate of the whitelist entry.',
    }),
  }),
});

const AccessCandidate = builder.objectRef<Candidate>('AccessCandidate').implement({
  description:
    'A whitelist entry that may belong to the vehicle whose plate the camera read. The plate of this whitelist entry equals a camera text in the request, or differs in one character from the plate or camera text in the request. Cameras can confuse the two characters at this position.',
  fields: (t) => ({
    entry: t.expose('entry', { type: WhitelistEntry, description: 'The entry.' }),
    differences: t.expose('differences', {
      type: [PlateDifferenceType],
      description: 'The characters that differ.',
    }),
    readAs: t.exposeString('readAs', {
      nullable: true,
      description:
        'The plate of the whitelist entry as one text, such as `A12345`, so that clients can compare it with the camera text. `readAs` is null when the request contains `plate` instead of `reading`.',
    }),
  }),
});

const AccessCheckType = builder.objectRef<AccessCheck>('AccessCheck').implement({
  description: 'The result of one rule that the gateway checks to decide whether a vehicle may enter.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Name of the rule: `listed`, `valid`, `hours`, `quota` or `uses`.',
    }),
    passed: t.exposeBoolean('passed', { description: 'Whether the vehicle passes the rule.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'A sentence that explains the result of the rule to a person.',
    }),
  }),
});

const AccessDecision = builder.objectRef<Decision>('AccessDecision').implement({
  description: "The gateway's decision whether a vehicle may enter a location.",
  fields: (t) => ({
    allowed: t.boolean({
      description: 'Whether the vehicle may enter. `allowed` is true only for the reason `LISTED`.',
      resolve: ({ reason }) => reason === 'LISTED',
    }),
    reason: t.expose('reason', {
      type: AccessReason,
      description: 'The reason why the vehicle may or may not enter.',
    }),
    entry: t.expose('entry', {
      type: WhitelistEntry,
      nullable: true,
      description:
        'The whitelist entry on which the decision is based: the entry that has the plate of the request, or the candidate that matches best. `entry` is null when no whitelist entry matches, or when several match equally well.',
    }),
    overQuota: t.boolean({
      description:
        'Whether other vehicles with the same reference (such as an apartment) already fill the quota of this reference. If the quota has the enforcement `REPORT`, the vehicle may enter even when the quota is full.',
      resolve: ({ facts, at }) => isQuotaReached(facts, at),
    }),
    checks: t.field({
      type: [AccessCheckType],
      description:
        'The result of each rule, so that a person can explain the decision to the driver. The first rule that the vehicle fails determines the `reason` of the decision. A full quota with the enforcement `REPORT` denies no entry and never determines the `reason`. If no single whitelist entry matches (`entry` is null), the gateway checks only the rule `listed`.',
      resolve: accessChecks,
    }),
    candidates: t.expose('candidates', {
      type: [AccessCandidate],
      complexity: { field: 1, multiplier: maxCandidates },
      description:
        'The whitelist entries that the plate may match; empty when one whitelist entry matches exactly. The list is sorted: first the entries that match the camera text, then the entries that match an alternative camera text, then the entries whose plate differs in one character. When several whitelist entries match equally well, the vehicle may not enter and a person must decide.',
    }),
  }),
});

export const PlateInput = builder.inputType('PlateInput', {
  description:
    'A licence plate with its type, code and number. In `plateAccess`, a whitelist entry matches only if its plate has the same type, code and number, unless the request sets a tolerance.',
  fields: (t) => ({
    plateType: t.string({
      required: true,
      description: 'The authority or region that issued the plate, such as `DXB`.',
    }),
    plateCode: t.string({
      required: true,
      description: 'Code of the plate: `White`, or 1 to 3 letters or digits.',
    }),
    plateNumber: t.string({ required: true, description: 'Number of the plate: 1 to 20 digits.' }),
  }),
});

builder.queryField('plateAccess', (t) =>
  t.field({
    type: AccessDecision,
    permission: 'READ_WHITELIST',
    description: 'Decides whether a vehicle may enter a location.',
    args: {
      locationId: t.arg.id(locationIdArg),
      plate: t.arg({
        type: PlateInput,
        description:
          'The plate in parts. A request must have either the argument `plate` or the argument `reading`, but not both.',
      }),
      reading: t.arg({
        type: ReadingInput,
        description: 'The text that the camera read.',
        validate: plateReadingRule.nullish(),
      }),
      at: t.arg({
        type: 'DateTime',
        description: 'The time at which the vehicle wants to enter. Default: now.',
        validate: instant,
      }),
      tolerance: t.arg.int({
        defaultValue: 0,
        description:
          'The number of characters in which the plate or camera text of the request may differ from the plate of a whitelist entry: 0 or 1. The tolerance 1 applies only if no whitelist entry matches exactly, and only to characters that cameras confuse (0/O, 1/I, 8/B, 5/S, 2/Z). With the tolerance 1, the type, code and number in `plate` may all contain both digits and capital letters.',
        validate: wholeNumber(0, 1).nullish(),
      }),
    },
    resolve: (_, { locationId, at, tolerance, plate, reading }, { key, services: { whitelist } }) => {
      if (!hasOnePlate({ plate, reading })) throw invalidField('plate', onePlateMessage, plate);
      const similar = tolerance === 1;
      const asked = reading
        ? { reading }
        : { plate: parseInput(similar ? tolerantPlateRule : plateRule, plate) };
      return whitelist.decideAccess(key, locationId, asked, { at: at ?? new Date(), similar });
    },
  }),
);
