import { z } from 'zod';
import { AccessReason as reasons } from '../prisma/generated/client/enums.ts';
import { parseInput } from '../src/errors/faults.ts';
import type { AccessCandidate as Candidate, AccessDecision as Decision } from '../src/whitelist/access.ts';
import { maxSimilarPlates, type PlateDifference } from '../src/whitelist/similar-plates.ts';
import { builder } from './builder.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';
import { instant, wholeNumber } from './rules.ts';

/** Why a vehicle may or may not enter. */
export const AccessReason = builder.enumType(reasons, {
  name: 'AccessReason',
  description: 'Why a vehicle may or may not enter.',
  values: {
    LISTED: { description: 'The whitelist has the plate, and the entry is valid at the time.' },
    NOT_LISTED: { description: 'The whitelist does not have the plate.' },
    NOT_YET_VALID: { description: 'The entry of the plate starts later.' },
    EXPIRED: { description: 'The entry of the plate has ended.' },
  },
});

/** A plate as a camera may read it: digits in place of letters, and letters in place of digits. */
const readingRule = z.object({
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
  description: 'An entry whose plate differs from what was read by one character that cameras confuse.',
  fields: (t) => ({
    entry: t.expose('entry', { type: WhitelistEntry, description: 'The entry.' }),
    differences: t.expose('differences', { type: [PlateDifferenceType], description: 'What differs.' }),
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
        'The entry that decided: that of the plate, or with a tolerance the only candidate; null when there is none, or more than one candidate.',
    }),
    candidates: t.expose('candidates', {
      type: [AccessCandidate],
      complexity: { field: 1, multiplier: maxSimilarPlates },
      description:
        'With a tolerance, when the whitelist does not have the plate as read: the entries that it may be. With more than one nobody is let in: a person must decide.',
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
        required: true,
        description: 'What the camera read.',
      }),
      at: t.arg({
        type: 'DateTime',
        description: 'The time in question; now when left out.',
        validate: instant,
      }),
      tolerance: t.arg.int({
        defaultValue: 0,
        description:
          'With 1, a plate that the whitelist does not have as read may differ from an entry by one character that cameras confuse (0/O, 1/I, 8/B, 5/S, 2/Z), and any part of it may have digits and capital letters.',
        validate: wholeNumber(0, 1).nullish(),
      }),
    },
    resolve: (_, { locationId, at, tolerance, ...args }, { key, whitelist }) => {
      const similar = tolerance === 1;
      const plate = parseInput(similar ? readingRule : plateRule, args.plate);
      return whitelist.decideAccess(key, locationId, plate, { at: at ?? new Date(), similar });
    },
  }),
);
