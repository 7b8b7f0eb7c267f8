import { builder } from './builder.ts';
import { locationIdArg } from './location.ts';
import { expectedVersion } from './rules.ts';
import { WeeklyHoursInput, weeklyHoursRule } from './weekly-hours.ts';
import { entryIdArg, WhitelistEntry } from './whitelist.ts';

// This file defines the GraphQL fields for two rules of a whitelist entry: in which weekly hours and how many times the
// vehicle may enter.

builder.objectField(WhitelistEntry, 'entriesRecorded', (t) =>
  t.int({
    description:
      'How many times gates have recorded that the vehicle of this whitelist entry entered. If the gate sends a parking event again or corrects it, `entriesRecorded` counts the parking event only once. When `entriesRecorded` has reached `maxEntries`, the vehicle may not enter again.',
    resolve: ({ id }, _, { services: { whitelist } }) => whitelist.entriesRecorded(id),
  }),
);

builder.mutationField('setEntryHours', (t) =>
  t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    description:
      'Sets the weekly hours in which the vehicle of a whitelist entry may enter. This mutation changes no other value of the whitelist entry. Fails with `CONFLICT` when the version of the whitelist entry is not `expectedVersion`.',
    args: {
      locationId: t.arg.id(locationIdArg),
      id: t.arg.id(entryIdArg),
      hours: t.arg({
        type: [WeeklyHoursInput],
        description:
          'The weekly hours. If the weekly hours are null, empty or omitted, the vehicle may enter at all times.',
        validate: weeklyHoursRule.nullish(),
      }),
      expectedVersion: t.arg.int({
        description:
          'The version of the whitelist entry that the client has read. The change fails if the current version of the whitelist entry is not `expectedVersion`. If `expectedVersion` is omitted, the gateway does not check the version.',
        validate: expectedVersion,
      }),
    },
    resolve: (_, { locationId, id, hours, expectedVersion }, context) =>
      context.services.whitelist.setHours(context, locationId, id, hours ?? null, expectedVersion),
  }),
);
