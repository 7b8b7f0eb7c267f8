import { z } from 'zod';
import { maxPlatesInside } from '../src/parking/count-inside.ts';
import { PlateInput } from './access.ts';
import { builder } from './builder.ts';
import { seenInstant } from './parking-event.ts';
import { locationIdArg } from './location.ts';
import { wholeNumber } from './rules.ts';
import { findStatus, LocationStatus } from './status.ts';
import { plateRule } from './whitelist.ts';

const platesRule = z
  .array(plateRule)
  .max(maxPlatesInside, `At most ${maxPlatesInside} vehicles are allowed in one count`);

/**
 * The maximum number of vehicles in an occupancy count that states only how many vehicles are inside, without their
 * plates. No parking location has space for more than 1,000,000 vehicles.
 */
const maxOccupied = 1_000_000;

const countedAtDescription =
  'The time at which the vehicles were counted. Default: now. The time of a count identifies the count. If a client sends a count again, nothing changes. If a client sends another number or other vehicles for the same time, the new count replaces the earlier count.';

builder.mutationFields((t) => ({
  setInside: t.field({
    type: LocationStatus,
    permission: 'WRITE_ACTIVITY',
    rowsPerPoint: 250,
    description:
      'Stores which vehicles are inside a location, after a person has counted them. The gateway ends the open parking session of each vehicle whose plate is not in `plates`, and gives the session the state `CORRECTED`. If a vehicle in `plates` has no open parking session, the gateway creates a parking session for the vehicle. A parking event can arrive after the call of `setInside`. If its `occurredAt` is before the time of the occupancy count, the gateway treats the event as older than the count.',
    args: {
      locationId: t.arg.id(locationIdArg),
      plates: t.arg({
        type: [PlateInput],
        required: true,
        description: `The plates of all vehicles that are inside, at most ${maxPlatesInside}. A plate that occurs several times counts as one vehicle.`,
        validate: platesRule,
      }),
      at: t.arg({ type: 'DateTime', description: countedAtDescription, validate: seenInstant.nullish() }),
    },
    async resolve(_, { locationId, plates, at }, context) {
      await context.services.parking.setInside(context, locationId, plates, at);
      return findStatus(locationId, context);
    },
  }),
  adjustOccupancy: t.field({
    type: LocationStatus,
    permission: 'WRITE_ACTIVITY',
    description:
      'Sets the number of vehicles inside a location. Use this mutation if you know the number of vehicles but not their plates. The field `adjustment` of `LocationStatus` is the difference between the number that the client sets and the number of open parking sessions. The next call of `setInside` or `adjustOccupancy` replaces the value of `adjustment`.',
    args: {
      locationId: t.arg.id(locationIdArg),
      occupied: t.arg.int({
        required: true,
        description: `Number of vehicles inside, 0 to ${maxOccupied}.`,
        validate: wholeNumber(0, maxOccupied),
      }),
      at: t.arg({ type: 'DateTime', description: countedAtDescription, validate: seenInstant.nullish() }),
    },
    async resolve(_, { locationId, occupied, at }, context) {
      await context.services.parking.adjustOccupancy(context, locationId, occupied, at);
      return findStatus(locationId, context);
    },
  }),
}));
