import { z } from 'zod';
import { maxPlatesInside } from '../src/parking/count-inside.ts';
import { PlateInput } from './access.ts';
import { builder } from './builder.ts';
import { seenInstant } from './parking-event.ts';
import { wholeNumber } from './rules.ts';
import { findStatus, LocationStatus } from './status.ts';
import { plateRule } from './whitelist.ts';

const platesRule = z
  .array(plateRule)
  .max(maxPlatesInside, `At most ${maxPlatesInside} vehicles are allowed in one count`);

/** The most vehicles that a location may be told to hold: more than any does. */
const maxOccupied = 1_000_000;

const countedAtDescription =
  'When they were counted; now when left out. It identifies the count: with it, a repetition changes nothing, and another count of the same time corrects the earlier one.';

builder.mutationFields((t) => ({
  setInside: t.field({
    type: LocationStatus,
    permission: 'WRITE_ACTIVITY',
    rowsPerPoint: 1000,
    description:
      'Tells which vehicles are inside, after somebody has walked through the location. Sessions of vehicles that are not listed are closed as `CORRECTED`, and one is opened for each that nobody had seen enter. It takes its place among the events: those that come late are counted in as well.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      plates: t.arg({
        type: [PlateInput],
        required: true,
        description: `Every vehicle that is inside, ${maxPlatesInside} at most; a plate that comes twice counts once.`,
        validate: platesRule,
      }),
      at: t.arg({ type: 'DateTime', description: countedAtDescription, validate: seenInstant.nullish() }),
    },
    async resolve(_, { locationId, plates, at }, context) {
      await context.parking.setInside(context, locationId, plates, at);
      return findStatus(locationId, context);
    },
  }),
  adjustOccupancy: t.field({
    type: LocationStatus,
    permission: 'WRITE_ACTIVITY',
    description:
      'Tells how many vehicles are inside, where only the number is known. What the open sessions of that time differ by is kept apart from them, as `adjustment` of the status, and fades as sessions correct themselves. The next count replaces it.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      occupied: t.arg.int({
        required: true,
        description: `How many vehicles are inside, 0 to ${maxOccupied}.`,
        validate: wholeNumber(0, maxOccupied),
      }),
      at: t.arg({ type: 'DateTime', description: countedAtDescription, validate: seenInstant.nullish() }),
    },
    async resolve(_, { locationId, occupied, at }, context) {
      await context.parking.adjustOccupancy(context, locationId, occupied, at);
      return findStatus(locationId, context);
    },
  }),
}));
