import { builder } from './builder.ts';
import { expectedVersion } from './rules.ts';
import { WeeklyHoursInput, weeklyHoursRule } from './weekly-hours.ts';
import { WhitelistEntry } from './whitelist.ts';

// Rules of single entries beside their validity: hours, and how often a pass was used.

builder.objectField(WhitelistEntry, 'entriesRecorded', (t) =>
  t.int({
    description:
      'How many entries of the vehicle were recorded as those of this entry; a resend or a correction counts once. With `maxEntries` of them it is used up.',
    resolve: ({ id }, _, { whitelist }) => whitelist.entriesRecorded(id),
  }),
);

builder.mutationField('setEntryHours', (t) =>
  t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    description:
      'Sets when in a week the vehicle of an entry may enter, and leaves its other values as they are. `CONFLICT` when the entry has another version than the expected one.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      id: t.arg.id({ required: true, description: 'Identifier of the entry.' }),
      hours: t.arg({
        type: [WeeklyHoursInput],
        description: 'The times of the week; null or none: at all times.',
        validate: weeklyHoursRule.nullish(),
      }),
      expectedVersion: t.arg.int({
        description: 'The version that the entry must still have; any when left out.',
        validate: expectedVersion,
      }),
    },
    resolve: (_, { locationId, id, hours, expectedVersion }, context) =>
      context.whitelist.setHours(context, locationId, id, hours ?? null, expectedVersion),
  }),
);
