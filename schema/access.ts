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
  description: 'The reason for an access decision.',
  values: {
    LISTED: { description: 'The plate is in the whitelist, and no rule denies entry.' },
    NOT_LISTED: { description: 'The plate is not in the whitelist.' },
    NOT_YET_VALID: { description: 'The whitelist entry of the plate is not valid yet.' },
    EXPIRED: { description: 'The whitelist entry of the plate is no longer valid.' },
    OUTSIDE_HOURS: {
      description: 'The time of the decision is outside the weekly hours of the whitelist entry.',
    },
    QUOTA_REACHED: {
      description:
        "The quota of the vehicle's reference is full, so no other vehicle of this reference may enter.",
    },
    USED_UP: { description: 'The vehicle has already entered as often as `maxEntries` allows.' },
  },
});

/**
 * Validates the parts of a plate that a camera has read. The camera may have misread some characters. The rule accepts
 * letters and digits in every part of the plate, because cameras confuse letters with similar digits.
 */
const tolerantPlateRule = z.object({
  plateType: formedText(/^[A-Z0-9]{2,4}$/, 'Invalid plate type format'),
  plateCode: plateRule.shape.plateCode,
  plateNumber: formedText(/^[A-Z0-9]{1,20}$/, 'Invalid plate number format'),
});

const PlateDifferenceType = builder.objectRef<PlateDifference>('PlateDifference').implement({
  description: "A character that differs between the camera's reading and the plate of the entry.",
  fields: (t) => ({
    field: t.exposeString('field', { description: '`plateType`, `plateCode` or `plateNumber`.' }),
    position: t.exposeInt('position', {
      description: 'Position of the character in the plate type, plate code or plate number, counted from 1.',
    }),
    read: t.exposeString('read', { description: 'The character that the camera read at this position.' }),
    listed: t.exposeString('listed', {
      description: 'The character that the plate of the entry has at this position.',
    }),
  }),
});

const AccessCandidate = builder.objectRef<Candidate>('AccessCandidate').implement({
  description:
    'A whitelist entry that may belong to the vehicle whose plate the camera read. The plate of the entry equals the text or an alternative of the reading, or differs from the requested plate or text in one character that cameras confuse.',
  fields: (t) => ({
    entry: t.expose('entry', { type: WhitelistEntry, description: 'The entry.' }),
    differences: t.expose('differences', {
      type: [PlateDifferenceType],
      description: 'The characters that differ.',
    }),
    readAs: t.exposeString('readAs', {
      nullable: true,
      description:
        'The plate text of the whitelist entry that matches the reading of the camera, such as `A12345`. Null when the request contains `plate` instead of `reading`.',
    }),
  }),
});

const AccessCheckType = builder.objectRef<AccessCheck>('AccessCheck').implement({
  description: 'The result of one rule that the gateway checks for an access decision.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Name of the rule: `listed`, `valid`, `hours`, `quota` or `uses`.',
    }),
    passed: t.exposeBoolean('passed', { description: 'Whether the vehicle passes the rule.' }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'The result of the rule as a sentence for a person.',
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
    reason: t.expose('reason', { type: AccessReason, description: 'The reason for the decision.' }),
    entry: t.expose('entry', {
      type: WhitelistEntry,
      nullable: true,
      description:
        'The whitelist entry on which the decision is based: the entry of the plate, or the candidate that matches best. Null when no entry matches, or when several entries match equally well.',
    }),
    overQuota: t.boolean({
      description:
        'Whether other vehicles of the same reference already fill the quota of this reference. If the quota has the enforcement `REPORT`, the vehicle may enter even when the quota is full.',
      resolve: ({ facts, at }) => isQuotaReached(facts, at),
    }),
    checks: t.field({
      type: [AccessCheckType],
      description:
        'The result of each rule, so that a person can explain the decision to the driver. The first failed rule determines the `reason` of the decision, but a full quota with the enforcement `REPORT` never does. If the decision is based on no whitelist entry, the gateway checks only the rule `listed`.',
      resolve: accessChecks,
    }),
    candidates: t.expose('candidates', {
      type: [AccessCandidate],
      complexity: { field: 1, multiplier: maxCandidates },
      description:
        'The whitelist entries to which the plate may belong; empty when one entry matches exactly. The best match comes first: entries that match the text of the reading, then entries that match an alternative, then entries whose plate differs in one character. When several entries match equally well, the vehicle may not enter and a person must decide.',
    }),
  }),
});

export const PlateInput = builder.inputType('PlateInput', {
  description:
    'A plate in parts. The type, code and number must equal the plate of a whitelist entry, unless the request sets a tolerance.',
  fields: (t) => ({
    plateType: t.string({ required: true, description: 'Issuing authority or region, such as `DXB`.' }),
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
        description: 'The plate in parts. A request must have either `plate` or `reading`.',
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
          'The number of characters that may differ from the plate of an entry: 0 or 1. With the tolerance 1, if no entry has exactly the requested plate, an entry also matches when its plate differs in one character that cameras confuse (0/O, 1/I, 8/B, 5/S, 2/Z). With the tolerance 1, the type, code and number in `plate` may all contain both digits and capital letters.',
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
