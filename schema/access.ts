import { z } from 'zod';
import { AccessReason as reasons } from '../prisma/generated/client/enums.ts';
import { invalidField } from '../src/errors/error-table.ts';
import { parseInput } from '../src/errors/faults.ts';
import {
  accessChecks,
  type AccessCandidate as Candidate,
  type AccessDecision as Decision,
  maxCandidates,
} from '../src/whitelist/access.ts';
import { type AccessCheck, isQuotaReached } from '../src/whitelist/access-rules.ts';
import type { PlateDifference } from '../src/whitelist/similar-plates.ts';
import { builder } from './builder.ts';
import { hasOnePlate, onePlateMessage, plateReadingRule, ReadingInput } from './plate-reading.ts';
import { instant, wholeNumber } from './rules.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';

/** Why a vehicle may or may not enter. */
export const AccessReason = builder.enumType(reasons, {
  name: 'AccessReason',
  description: 'Why a vehicle may or may not enter.',
  values: {
    LISTED: { description: 'The whitelist has the plate, and every rule lets the vehicle in.' },
    NOT_LISTED: { description: 'The whitelist does not have the plate.' },
    NOT_YET_VALID: { description: 'The entry of the plate starts later.' },
    EXPIRED: { description: 'The entry of the plate has ended.' },
    OUTSIDE_HOURS: { description: 'The vehicle may enter at other times of the week.' },
    QUOTA_REACHED: { description: 'As many vehicles of its reference are inside as may be.' },
    USED_UP: { description: 'As many entries of the vehicle were recorded as it may make.' },
  },
});

/** A plate in parts as a camera may read it: digits in place of letters, and letters in place of digits. */
const tolerantPlateRule = z.object({
  plateType: z.string().regex(/^[A-Z0-9]{2,4}$/, 'Invalid plate type format'),
  plateCode: plateRule.shape.plateCode,
  plateNumber: z.string().regex(/^[A-Z0-9]{1,20}$/, 'Invalid plate number format'),
});

const PlateDifferenceType = builder.objectRef<PlateDifference>('PlateDifference').implement({
  description: 'A character that was read differently from what the whitelist has.',
  fields: (t) => ({
    field: t.exposeString('field', { description: '`plateType`, `plateCode` or `plateNumber`.' }),
    position: t.exposeInt('position', { description: 'Which character of the field, counted from 1.' }),
    read: t.exposeString('read', { description: 'What was read.' }),
    listed: t.exposeString('listed', { description: 'What the entry has.' }),
  }),
});

const AccessCandidate = builder.objectRef<Candidate>('AccessCandidate').implement({
  description:
    'An entry that a camera may have meant: it differs from what was read by one character that cameras confuse, is one of the alternatives, or fits what was read as others do.',
  fields: (t) => ({
    entry: t.expose('entry', { type: WhitelistEntry, description: 'The entry.' }),
    differences: t.expose('differences', { type: [PlateDifferenceType], description: 'What differs.' }),
    readAs: t.exposeString('readAs', {
      nullable: true,
      description:
        'The text that the entry has, of those that the reading may mean, such as `A12345`; null for a plate in parts.',
    }),
  }),
});

const AccessCheckType = builder.objectRef<AccessCheck>('AccessCheck').implement({
  description: 'What a rule of a decision found.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Which rule: `listed`, `valid`, `hours`, `quota` or `uses`.',
    }),
    passed: t.exposeBoolean('passed', { description: 'Whether it lets the vehicle in.' }),
    detail: t.exposeString('detail', { nullable: true, description: 'What it found, in words.' }),
  }),
});

const AccessDecision = builder.objectRef<Decision>('AccessDecision').implement({
  description: "The answer to a gate's question: may this vehicle enter?",
  fields: (t) => ({
    allowed: t.boolean({
      description: 'Whether the vehicle may enter: true only for `LISTED`.',
      resolve: ({ reason }) => reason === 'LISTED',
    }),
    reason: t.expose('reason', { type: AccessReason, description: 'Why.' }),
    entry: t.expose('entry', {
      type: WhitelistEntry,
      nullable: true,
      description:
        'The entry that decided: that of the plate, or else the only candidate that is nearest to what was read; null when there is none, or more than one.',
    }),
    overQuota: t.boolean({
      description:
        'Whether as many other vehicles of the reference are inside as its quota allows. With the enforcement `REPORT` the vehicle may enter all the same.',
      resolve: ({ facts, at }) => isQuotaReached(facts, at),
    }),
    checks: t.field({
      type: [AccessCheckType],
      description:
        'Every rule that was looked at, with what it found, for the person who tells a driver why. The first that did not pass gives the reason, but for a quota that is only reported; without an entry there is only `listed`.',
      resolve: accessChecks,
    }),
    candidates: t.expose('candidates', {
      type: [AccessCandidate],
      complexity: { field: 1, multiplier: maxCandidates },
      description:
        'When no entry, or more than one, has the plate as read: the entries that it may be, those that have the text first, then those of the alternatives, then those that differ by a character. When several are equally near, nobody is let in: a person must decide.',
    }),
  }),
});

export const PlateInput = builder.inputType('PlateInput', {
  description: 'A plate, compared exactly as sent unless a tolerance is asked for.',
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
    description: "A gate's question: may this vehicle enter the location?",
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      plate: t.arg({
        type: PlateInput,
        description: 'The plate in its parts; exactly one of `plate` and `reading` is required.',
      }),
      reading: t.arg({
        type: ReadingInput,
        description: 'What the camera read, as one text.',
        validate: plateReadingRule.nullish(),
      }),
      at: t.arg({
        type: 'DateTime',
        description: 'The time in question; now when left out.',
        validate: instant,
      }),
      tolerance: t.arg.int({
        defaultValue: 0,
        description:
          'With 1, a plate that the whitelist does not have as read may differ from an entry by one character that cameras confuse (0/O, 1/I, 8/B, 5/S, 2/Z), and any part of `plate` may have digits and capital letters.',
        validate: wholeNumber(0, 1).nullish(),
      }),
    },
    resolve: (_, { locationId, at, tolerance, plate, reading }, { key, whitelist }) => {
      if (!hasOnePlate({ plate, reading })) throw invalidField('plate', onePlateMessage, plate);
      const similar = tolerance === 1;
      const asked = reading
        ? { reading }
        : { plate: parseInput(similar ? tolerantPlateRule : plateRule, plate) };
      return whitelist.decideAccess(key, locationId, asked, { at: at ?? new Date(), similar });
    },
  }),
);
