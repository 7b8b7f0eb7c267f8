import { isId } from '../src/ids.ts';
import { reachable } from '../src/scope.ts';
import { builder } from './builder.ts';
import { plateRule, WhitelistEntry } from './whitelist.ts';
import { instant } from './rules.ts';

/** Why a vehicle may or may not enter. */
const AccessReason = builder.enumType('AccessReason', {
  description: 'Why a vehicle may or may not enter.',
  values: {
    LISTED: { description: 'The whitelist has the plate, and the entry is valid at the time.' },
    NOT_LISTED: { description: 'The whitelist does not have the plate.' },
    NOT_YET_VALID: { description: 'The entry of the plate starts later.' },
    EXPIRED: { description: 'The entry of the plate has ended.' },
  } as const,
});

type Entry = typeof WhitelistEntry.$inferType;

interface Decision {
  reason: typeof AccessReason.$inferType;
  entry: Entry | null;
}

/** Whether an entry lets its vehicle in at a time: from `validFrom` on, and before `validUntil`. */
export function decide(entry: Entry | null, at: Date): Decision {
  if (!entry) return { reason: 'NOT_LISTED', entry };
  if (entry.validFrom && at < entry.validFrom) return { reason: 'NOT_YET_VALID', entry };
  if (entry.validUntil && at >= entry.validUntil) return { reason: 'EXPIRED', entry };
  return { reason: 'LISTED', entry };
}

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
      description: 'The entry of the plate, if the whitelist has one.',
    }),
  }),
});

export const PlateInput = builder.inputType('PlateInput', {
  description: 'A plate, compared exactly as sent.',
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
        validate: plateRule,
      }),
      at: t.arg({
        type: 'DateTime',
        description: 'The time in question; now when left out.',
        validate: instant,
      }),
    },
    resolve: async (_, { locationId, plate, at }, { key, whitelist }) => {
      const lookup = isId(locationId) ? await whitelist.findPlate({ locationId, ...plate }) : undefined;
      return decide(reachable(key, locationId, lookup).entry, at ?? new Date());
    },
  }),
);
