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
import { formedText, identifier, wholeNumber } from './rules.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';

/** The reason why a vehicle may enter or may not enter. */
export const AccessReason = builder.enumType(reasons, {
  name: 'AccessReason',
  description: 'The reason for an access decision.',
  values: {
    LISTED: { description: 'The plate is in the whitelist, and no rule denies entry.' },
    NOT_LISTED: { description: 'The plate is not in the whitelist.' },
    NOT_YET_VALID: { description: 'The entry of the plate is not valid yet.' },
    EXPIRED: { description: 'The validity of the entry of the plate has ended.' },
    OUTSIDE_HOURS: {
      description: 'The time of the decision is outside the weekly hours of the entry.',
    },
    QUOTA_REACHED: {
      description: 'The quota of the reference is full, so no other vehicle of the reference may enter.',
    },
    USED_UP: { description: 'The vehicle has already entered as often as `maxEntries` allows.' },
  },
});

/**
 * Validates the parts of a plate that a camera may have misread. The rule allows digits where letters are usual, and
 * letters where digits are usual, because cameras confuse similar characters.
 */
const tolerantPlateRule = z.object({
  plateType: formedText(/^[A-Z0-9]{2,4}$/, 'Invalid plate type format'),
  plateCode: plateRule.shape.plateCode,
  plateNumber: formedText(/^[A-Z0-9]{1,20}$/, 'Invalid plate number format'),
});

const PlateDifferenceType = builder.objectRef<PlateDifference>('PlateDifference').implement({
  description: 'A character in which the reading and the entry differ.',
  fields: (t) => ({
    field: t.exposeString('field', { description: '`plateType`, `plateCode` or `plateNumber`.' }),
    position: t.exposeInt('position', {
      description: 'Position of the character in the field, counted from 1.',
    }),
    read: t.exposeString('read', { description: 'The character that the camera read at this position.' }),
    listed: t.exposeString('listed', { description: 'The character that the entry has at this position.' }),
  }),
});

const AccessCandidate = builder.objectRef<Candidate>('AccessCandidate').implement({
  description:
    'An entry that may be the vehicle that the camera read. The plate of the entry matches the text or an alternative of the reading, or differs in one character that cameras confuse.',
  fields: (t) => ({
    entry: t.expose('entry', { type: WhitelistEntry, description: 'The entry.' }),
    differences: t.expose('differences', {
      type: [PlateDifferenceType],
      description: 'The characters that differ.',
    }),
    readAs: t.exposeString('readAs', {
      nullable: true,
      description:
        'The plate text of the whitelist entry that matches the reading of the camera, such as `A12345`. Null when the request gives the plate in parts.',
    }),
  }),
});

const AccessCheckType = builder.objectRef<AccessCheck>('AccessCheck').implement({
  description: 'The result of one rule of a decision.',
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
  description: 'The decision whether a vehicle may enter.',
  fields: (t) => ({
    allowed: t.boolean({
      description: 'Whether the vehicle may enter. True only for the reason `LISTED`.',
      resolve: ({ reason }) => reason === 'LISTED',
    }),
    reason: t.expose('reason', { type: AccessReason, description: 'Why.' }),
    entry: t.expose('entry', {
      type: WhitelistEntry,
      nullable: true,
      description:
        'The whitelist entry that decides: the entry of the plate, or the candidate that matches best. Null when no entry matches, or when several entries match equally well.',
    }),
    overQuota: t.boolean({
      description:
        'Whether other vehicles of the reference already use the whole quota. With the enforcement `REPORT`, the vehicle may enter anyway.',
      resolve: ({ facts, at }) => isQuotaReached(facts, at),
    }),
    checks: t.field({
      type: [AccessCheckType],
      description:
        'The result of each rule, so that a person can explain the decision to the driver. The first failed rule is the reason, but a quota with the enforcement `REPORT` is never the reason. Without an entry, only the rule `listed` is checked.',
      resolve: accessChecks,
    }),
    candidates: t.expose('candidates', {
      type: [AccessCandidate],
      complexity: { field: 1, multiplier: maxCandidates },
      description:
        'The entries to which the plate may belong, when no entry or several entries match the plate. The best match comes first: entries with the text, then entries with an alternative, then entries with one different character. When several entries match equally well, the vehicle may not enter and a person must decide.',
    }),
  }),
});

export const PlateInput = builder.inputType('PlateInput', {
  description:
    'A plate in parts. The type, code and number must match exactly, unless the request gives a tolerance.',
  fields: (t) => ({
    plateType: t.string({ required: true, description: 'Issuing authority or region, such as `DXB`.' }),
    plateCode: t.string({ required: true, description: '`White`, or 1 to 3 letters or digits.' }),
    plateNumber: t.string({ required: true, description: '1 to 20 digits.' }),
  }),
});

builder.queryField('plateAccess', (t) =>
  t.field({
    type: AccessDecision,
    permission: 'READ_WHITELIST',
    description: 'Decides whether a vehicle may enter a location.',
    args: {
      locationId: t.arg.id({
        required: true,
        description: 'Identifier of the location.',
        validate: identifier,
      }),
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
          'How many characters may differ: 0 or 1. With the value 1, a plate without an entry also matches an entry in which one character differs, if cameras confuse the two characters (0/O, 1/I, 8/B, 5/S, 2/Z). With 1, each part of `plate` may contain digits and capital letters.',
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
