import type { InputShapeFromFields } from '@pothos/core';
import type { Context } from '../src/context.ts';
import { builder } from './builder.ts';
import { Location } from './location.ts';
import { type ConnectionArguments, emptyList, keysetConnection } from './pagination.ts';
import { instant, text } from './rules.ts';
import { WhitelistEntry } from './whitelist.ts';

/** What a list may be filtered by; an empty filter is none (decisions, "filters"). */
const filter = text(500)
  .transform((value) => value || undefined)
  .nullish();

/** The arguments of a whitelist, on both fields that show one. */
const filterArguments = builder.args((t) => ({
  referenceId: t.string({
    description: 'Only entries with this reference id; empty for all.',
    validate: filter,
  }),
  plateType: t.string({ description: 'Only entries with this plate type; empty for all.', validate: filter }),
  plateCode: t.string({ description: 'Only entries with this plate code; empty for all.', validate: filter }),
  plateNumber: t.string({
    description: 'Only entries with this plate number; empty for all.',
    validate: filter,
  }),
  validAt: t.field({
    type: 'DateTime',
    description: 'Only entries that are valid at this time, whatever their hours.',
    validate: instant,
  }),
}));

type WhitelistArguments = ConnectionArguments & InputShapeFromFields<typeof filterArguments>;

/** The whitelist of a location, whose statement checks the key's reach. */
function whitelistConnection(
  locationId: string,
  { referenceId, plateType, plateCode, plateNumber, validAt, ...args }: WhitelistArguments,
  { key, whitelist, takeWholeList }: Context,
) {
  const filters = {
    referenceId: referenceId ?? undefined,
    plateType: plateType ?? undefined,
    plateCode: plateCode ?? undefined,
    plateNumber: plateNumber ?? undefined,
    validAt: validAt ?? undefined,
  };
  const list = whitelist.entriesOf(key, locationId, filters);
  takeWholeList?.(list);
  return keysetConnection(args, takeWholeList ? emptyList : list);
}

const WhitelistEntryConnection = builder.connectionObject(
  { type: WhitelistEntry, name: 'WhitelistEntryConnection', description: 'A page of a whitelist.' },
  { name: 'WhitelistEntryEdge', description: 'An entry and its place in the whitelist.' },
);

builder.objectField(Location, 'whitelist', (t) =>
  t.connection(
    {
      type: WhitelistEntry,
      permission: 'READ_WHITELIST',
      description: 'The entries of the location, oldest first.',
      args: filterArguments,
      resolve: (location, args, context) => whitelistConnection(location.id, args, context),
    },
    WhitelistEntryConnection,
  ),
);

builder.queryField('whitelist', (t) =>
  t.connection(
    {
      type: WhitelistEntry,
      permission: 'READ_WHITELIST',
      description:
        'The entries of a location, oldest first; for keys that may read whitelists but not locations.',
      args: {
        locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
        ...filterArguments,
      },
      resolve: (_, { locationId, ...args }, context) => whitelistConnection(locationId, args, context),
    },
    WhitelistEntryConnection,
  ),
);
