import type { InputShapeFromFields } from '@pothos/core';
import type { Context } from '../src/context.ts';
import { builder } from './builder.ts';
import { Location, locationIdArg } from './location.ts';
import { type ConnectionArguments, emptyList, keysetConnection, pageSizes } from './pagination.ts';
import { instant } from './instant.ts';
import { textFilter } from './rules.ts';
import { WhitelistEntry } from './whitelist.ts';

/** The filter arguments of the GraphQL fields that return a whitelist. */
const filterArguments = builder.args((t) => ({
  referenceId: t.string({
    description:
      'A reference id: the list contains only whitelist entries with this reference id. If the filter is omitted or empty, all reference ids match.',
    validate: textFilter,
  }),
  plateType: t.string({
    description:
      'A plate type: the list contains only whitelist entries with this plate type. If the filter is omitted or empty, all plate types match.',
    validate: textFilter,
  }),
  plateCode: t.string({
    description:
      'A plate code: the list contains only whitelist entries with this plate code. If the filter is omitted or empty, all plate codes match.',
    validate: textFilter,
  }),
  plateNumber: t.string({
    description:
      'A plate number: the list contains only whitelist entries with this plate number. If the filter is omitted or empty, all plate numbers match.',
    validate: textFilter,
  }),
  validAt: t.field({
    type: 'DateTime',
    description:
      'A time: the list contains only whitelist entries that are valid at this time. The filter ignores the weekly hours of the whitelist entries.',
    validate: instant,
  }),
}));

/**
 * The cost of a GraphQL field that returns a whitelist and has the filter `validAt`, without the cost of its subfields.
 * The database has no index for the times at which whitelist entries are valid. To find or count the entries that are
 * valid at a given time, PostgreSQL may therefore have to read the whole whitelist.
 */
const validAtCost = 200;

/**
 * The cost of a field that returns a whitelist. A field with the filter `validAt` costs more than a field without this
 * filter.
 */
const listCost = {
  field: ({ validAt }: Readonly<Record<string, unknown>>) => (validAt ? validAtCost : 1),
  multiplier: 1,
  pageSize: pageSizes,
};

type WhitelistArguments = ConnectionArguments & InputShapeFromFields<typeof filterArguments>;

/** Returns a page of the whitelist of a location, with one SQL statement that also checks the scope of the API key. */
function whitelistConnection(
  locationId: string,
  { referenceId, plateType, plateCode, plateNumber, validAt, ...args }: WhitelistArguments,
  { key, takeWholeList, services: { whitelist } }: Context,
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
  {
    name: 'WhitelistEntryEdge',
    description: 'A whitelist entry, and its cursor in the list of whitelist entries.',
  },
);

builder.objectField(Location, 'whitelist', (t) =>
  t.connection(
    {
      type: WhitelistEntry,
      permission: 'READ_WHITELIST',
      complexity: listCost,
      description: 'The whitelist entries of the location, oldest first.',
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
      complexity: listCost,
      description:
        'The whitelist entries of a location, oldest first. Unlike `Location.whitelist`, the query `whitelist` does not need the permission `READ_LOCATIONS`.',
      args: {
        locationId: t.arg.id(locationIdArg),
        ...filterArguments,
      },
      resolve: (_, { locationId, ...args }, context) => whitelistConnection(locationId, args, context),
    },
    WhitelistEntryConnection,
  ),
);
