import { z } from 'zod';
import type { WhitelistEntryValues } from '../src/whitelist-writes.ts';
import { isUniqueViolation } from '../src/db-errors.ts';
import { locationNotFound, ServiceError, whitelistEntryNotFound } from '../src/errors.ts';
import { isId } from '../src/ids.ts';
import { reachable } from '../src/scope.ts';
import type { Context } from '../src/context.ts';
import { builder } from './builder.ts';
import { findLocation, Location } from './location.ts';
import { keysetConnection } from './pagination.ts';
import { filledText, instant, text } from './rules.ts';

/** The three parts of a plate (specification, "Whitelist entry"; at most 20 digits by decision). */
export const plateRule = z.object({
  plateType: z.string().regex(/^[A-Z]{2,4}$/, 'Invalid plate type format'),
  plateCode: z.string().regex(/^(White|[A-Za-z0-9]{1,3})$/, 'Invalid plate code format'),
  plateNumber: z.string().regex(/^[0-9]{1,20}$/, 'Invalid plate number format'),
});

/** The Whitelist entry rules, in the order of the specification's field table. */
export const whitelistEntryRule = z
  .object({
    referenceId: filledText(100, 'Reference id must not be blank'),
    ...plateRule.shape,
    vehicleType: text(50).nullish(),
    note: text(500).nullish(),
    validFrom: instant.nullish(),
    validUntil: instant.nullish(),
  })
  .refine(({ validFrom, validUntil }) => !validFrom || !validUntil || validFrom < validUntil, {
    path: ['validUntil'],
    message: 'Must be after validFrom',
  });

/** What a list may be filtered by; an empty filter is none (decisions, "filters"). */
const filter = text(500)
  .transform((value) => value || undefined)
  .nullish();

const description = {
  referenceId: 'Grouping key of the caller, such as a resident, a unit or a contract: 1 to 100 characters.',
  plateType: 'Issuing authority or region: 2 to 4 uppercase letters, such as `DXB`.',
  plateCode: '`White`, or 1 to 3 letters or digits.',
  plateNumber: '1 to 20 digits. `7` and `007` are different plates.',
  vehicleType: 'Kind of vehicle in free text, at most 50 characters.',
  note: 'Free text, at most 500 characters.',
  validFrom: 'From when on the vehicle may enter; null for no start.',
  validUntil: 'Until when the vehicle may enter; null for no end.',
};

export const WhitelistEntry = builder.prismaObject('WhitelistEntry', {
  description: 'A vehicle that may enter a location. Its plate is unique within the location.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the entry.' }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The location whose whitelist has the entry.',
      resolve: ({ locationId }, _, context) => findLocation(locationId, context),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    referenceId: t.exposeString('referenceId', { description: description.referenceId }),
    plateType: t.exposeString('plateType', { description: description.plateType }),
    plateCode: t.exposeString('plateCode', { description: description.plateCode }),
    plateNumber: t.exposeString('plateNumber', { description: description.plateNumber }),
    vehicleType: t.exposeString('vehicleType', { nullable: true, description: description.vehicleType }),
    note: t.exposeString('note', { nullable: true, description: description.note }),
    validFrom: t.expose('validFrom', {
      type: 'DateTime',
      nullable: true,
      description: description.validFrom,
    }),
    validUntil: t.expose('validUntil', {
      type: 'DateTime',
      nullable: true,
      description: description.validUntil,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the entry was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the entry last changed.' }),
  }),
});

interface WhitelistArguments {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  referenceId?: string | null | undefined;
  plateType?: string | null | undefined;
}

/** The whitelist of a location, checked against the key's reach by the statement that reads it. */
function whitelistConnection(locationId: string, args: WhitelistArguments, { key, whitelist }: Context) {
  const filters = {
    locationId,
    referenceId: args.referenceId ?? undefined,
    plateType: args.plateType ?? undefined,
  };
  return keysetConnection(
    args,
    async (page) =>
      reachable(key, locationId, isId(locationId) ? await whitelist.page({ ...filters, ...page }) : undefined)
        .entries,
    () => whitelist.count(filters),
  );
}

const WhitelistEntryConnection = builder.connectionObject(
  { type: WhitelistEntry, name: 'WhitelistEntryConnection', description: 'A page of a whitelist.' },
  { name: 'WhitelistEntryEdge', description: 'An entry and its place in the whitelist.' },
);

const filterDescriptions = {
  referenceId: 'Only entries with this reference id; empty for all.',
  plateType: 'Only entries with this plate type; empty for all.',
};

builder.objectField(Location, 'whitelist', (t) =>
  t.connection(
    {
      type: WhitelistEntry,
      permission: 'READ_WHITELIST',
      description: 'The entries of the location, oldest first.',
      args: {
        referenceId: t.arg.string({ description: filterDescriptions.referenceId, validate: filter }),
        plateType: t.arg.string({ description: filterDescriptions.plateType, validate: filter }),
      },
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
        referenceId: t.arg.string({ description: filterDescriptions.referenceId, validate: filter }),
        plateType: t.arg.string({ description: filterDescriptions.plateType, validate: filter }),
      },
      resolve: (_, { locationId, ...args }, context) => whitelistConnection(locationId, args, context),
    },
    WhitelistEntryConnection,
  ),
);

export const WhitelistEntryInput = builder.inputType('WhitelistEntryInput', {
  description: 'A vehicle that may enter a location.',
  fields: (t) => ({
    referenceId: t.string({ required: true, description: description.referenceId }),
    plateType: t.string({ required: true, description: description.plateType }),
    plateCode: t.string({ required: true, description: description.plateCode }),
    plateNumber: t.string({ required: true, description: description.plateNumber }),
    vehicleType: t.string({ description: description.vehicleType }),
    note: t.string({ description: description.note }),
    validFrom: t.field({ type: 'DateTime', description: description.validFrom }),
    validUntil: t.field({
      type: 'DateTime',
      description: 'Until when the vehicle may enter; after `validFrom`.',
    }),
  }),
});

/** The values of an entry as they are stored: what is left out is null. */
export function entryValues(input: z.output<typeof whitelistEntryRule>): WhitelistEntryValues {
  return {
    ...input,
    vehicleType: input.vehicleType ?? null,
    note: input.note ?? null,
    validFrom: input.validFrom ?? null,
    validUntil: input.validUntil ?? null,
  };
}

/** 409 for a plate that the whitelist has already (specification, rule 3). */
export function duplicateVehicle(
  { plateType, plateCode, plateNumber }: WhitelistEntryValues,
  message = 'Vehicle with this plate already exists in the whitelist',
): ServiceError {
  return new ServiceError('DUPLICATE_VEHICLE', message, {
    plateType,
    plateCode,
    plateNumber,
  });
}

const locationIdArg = { required: true, description: 'Identifier of the location.' } as const;
const entryIdArg = { required: true, description: 'Identifier of the entry.' } as const;

/**
 * Runs a write of one entry, if there can be such an entry, and says what was unknown.
 *
 * @param write returns the entry; null for an unknown one, undefined for a location out of reach
 */
async function changeEntry<Entry>(
  locationId: string,
  id: string,
  context: Context,
  write: () => Promise<Entry | null | undefined>,
): Promise<Entry> {
  if (!isId(locationId) || !isId(id)) {
    await findLocation(locationId, context);
    throw whitelistEntryNotFound(id);
  }
  const entry = await write();
  if (entry === undefined) throw locationNotFound(locationId);
  if (entry === null) throw whitelistEntryNotFound(id);
  return entry;
}

builder.mutationFields((t) => ({
  createWhitelistEntry: t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    description: 'Adds a vehicle. `DUPLICATE_VEHICLE` when the location has an entry with the plate.',
    args: {
      locationId: t.arg.id(locationIdArg),
      input: t.arg({
        type: WhitelistEntryInput,
        required: true,
        description: 'The vehicle.',
        validate: whitelistEntryRule,
      }),
    },
    resolve: async (_, { locationId, input }, context) => {
      const values = entryValues(input);
      const created = isId(locationId)
        ? await context.whitelist.create(context, locationId, values)
        : undefined;
      if (created === undefined) throw locationNotFound(locationId);
      if (created === null) throw duplicateVehicle(values);
      return created;
    },
  }),
  updateWhitelistEntry: t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    description:
      'Replaces an entry: what is left out becomes null. `DUPLICATE_VEHICLE` when another entry of the location has the plate.',
    args: {
      locationId: t.arg.id(locationIdArg),
      id: t.arg.id(entryIdArg),
      input: t.arg({
        type: WhitelistEntryInput,
        required: true,
        description: 'The new values.',
        validate: whitelistEntryRule,
      }),
    },
    resolve: async (_, { locationId, id, input }, context) => {
      const values = entryValues(input);
      return changeEntry(locationId, id, context, () =>
        context.whitelist.update(context, locationId, id, values).catch((error: unknown) => {
          throw isUniqueViolation(error, 'whitelist_entry_plate_unique') ? duplicateVehicle(values) : error;
        }),
      );
    },
  }),
  deleteWhitelistEntry: t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    description: 'Removes an entry and returns it as it was.',
    args: {
      locationId: t.arg.id(locationIdArg),
      id: t.arg.id(entryIdArg),
    },
    resolve: (_, { locationId, id }, context) =>
      changeEntry(locationId, id, context, () => context.whitelist.remove(context, locationId, id)),
  }),
}));
