import { z } from 'zod';
import { hoursOf, type WhitelistEntryValues } from '../src/whitelist/columns.ts';
import { builder } from './builder.ts';
import { Location, locationIdArg } from './location.ts';
import { mapValues } from './map-values.ts';
import { instant } from './instant.ts';
import { expectedVersion, filledText, formedText, identifier, isObject, text, wholeNumber } from './rules.ts';
import { WeeklyHours, WeeklyHoursInput, weeklyHoursRule } from './weekly-hours.ts';

/** Validates the three parts of a plate (docs/contract.md#whitelist-entry). */
export const plateRule = z.object({
  plateType: formedText(/^[A-Z]{2,4}$/, 'Invalid plate type format'),
  plateCode: formedText(/^(White|[A-Za-z0-9]{1,3})$/, 'Invalid plate code format'),
  plateNumber: formedText(/^[0-9]{1,20}$/, 'Invalid plate number format'),
});

const maxReferenceIdLength = 100;

/**
 * Validates a reference id. A reference id identifies a group of whitelist entries, such as the vehicles of one
 * apartment. The descriptions in the GraphQL schema also contain the maximum length of a reference id.
 */
export const referenceId = filledText(maxReferenceIdLength, 'Reference id must not be blank');
export const lengthOfReferenceId = `1 to ${maxReferenceIdLength} characters`;

/**
 * The optional text fields of a whitelist entry. For each optional text field, this module creates a validation rule
 * and a GraphQL field.
 */
const optionalTexts = {
  vehicleType: { maxLength: 50, content: 'Kind of vehicle in free text' },
  note: { maxLength: 500, content: 'Free text' },
};

/** The validation rules of a whitelist entry, in the order of the field table (docs/contract.md#whitelist-entry). */
export const whitelistEntryRule = z
  .object({
    referenceId,
    ...plateRule.shape,
    ...mapValues(optionalTexts, ({ maxLength }) => text(maxLength).nullish()),
    validFrom: instant.nullish(),
    validUntil: instant.nullish(),
    hours: weeklyHoursRule.nullish(),
    maxEntries: wholeNumber(1).nullish(),
  })
  .refine(
    ({ validFrom, validUntil }) =>
      !(validFrom instanceof Date && validUntil instanceof Date) || validFrom < validUntil,
    { path: ['validUntil'], message: 'Must be after validFrom', when: isObject },
  );

const description = {
  ...mapValues(optionalTexts, ({ content, maxLength }) => `${content}, at most ${maxLength} characters.`),
  referenceId: `The client's identifier of a group of entries, such as a resident, a unit or a contract: ${lengthOfReferenceId}.`,
  plateType: 'Issuing authority or region: 2 to 4 uppercase letters, such as `DXB`.',
  plateCode: '`White`, or 1 to 3 letters or digits.',
  plateNumber: '1 to 20 digits. `7` and `007` are different plates.',
  validFrom: 'The time from which the vehicle may enter; null when the validity has no start.',
  validUntil: 'The time until which the vehicle may enter; null when the validity has no end.',
  hours: 'The weekly hours in which the vehicle may enter',
  maxEntries: 'The number of times that the vehicle may enter in total, 1 or more; null for no limit.',
};

export const WhitelistEntry = builder.prismaObject('WhitelistEntry', {
  description:
    'A vehicle that may enter a location, with the rules for when and how often the vehicle may enter. A whitelist has at most one entry for each plate.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the entry.' }),
    location: t.field({
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The location to whose whitelist the entry belongs.',
      resolve: ({ locationId }, _, { key, services: { locations } }) => locations.find(key, locationId),
    }),
    locationId: t.exposeID('locationId', { description: 'Identifier of the location.' }),
    referenceId: t.exposeString('referenceId', { description: description.referenceId }),
    plateType: t.exposeString('plateType', { description: description.plateType }),
    plateCode: t.exposeString('plateCode', { description: description.plateCode }),
    plateNumber: t.exposeString('plateNumber', { description: description.plateNumber }),
    ...mapValues(optionalTexts, (_, name) =>
      t.exposeString(name, { nullable: true, description: description[name] }),
    ),
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
    hours: t.field({
      type: [WeeklyHours],
      complexity: { field: 0, multiplier: 0 }, // the field costs nothing, because the entry's row contains the hours
      description: `${description.hours}. If the list of weekly hours is empty, the vehicle may enter at all times.`,
      resolve: (entry) => [...hoursOf(entry)],
    }),
    maxEntries: t.exposeInt('maxEntries', { nullable: true, description: description.maxEntries }),
    version: t.exposeInt('version', {
      description:
        'Version number of the whitelist entry, which a client can send as `expectedVersion`. The version starts at 1 and increases with each change.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the whitelist entry was created.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'The time at which the whitelist entry last changed.',
    }),
  }),
});

export const WhitelistEntryInput = builder.inputType('WhitelistEntryInput', {
  description: 'The values of a whitelist entry, which describes a vehicle that may enter a location.',
  fields: (t) => ({
    referenceId: t.string({ required: true, description: description.referenceId }),
    plateType: t.string({ required: true, description: description.plateType }),
    plateCode: t.string({ required: true, description: description.plateCode }),
    plateNumber: t.string({ required: true, description: description.plateNumber }),
    ...mapValues(optionalTexts, (_, name) => t.string({ description: description[name] })),
    validFrom: t.field({ type: 'DateTime', description: description.validFrom }),
    validUntil: t.field({
      type: 'DateTime',
      description:
        'The time until which the vehicle may enter; this time must be later than `validFrom`. Null means that the validity has no end.',
    }),
    hours: t.field({
      type: [WeeklyHoursInput],
      description: `${description.hours}. If the list of weekly hours is null or empty, the vehicle may enter at all times. If a client changes the whitelist entry without \`hours\`, the stored weekly hours stay unchanged.`,
      extensions: { graphOnly: true },
    }),
    maxEntries: t.int({
      description: `${description.maxEntries} If a client changes the whitelist entry without \`maxEntries\`, the stored value of \`maxEntries\` stays unchanged.`,
      extensions: { graphOnly: true },
    }),
  }),
});

/**
 * Converts the GraphQL input of a client to the values of a whitelist entry. If the client omits an optional value, the
 * value becomes null. If the client omits `hours` or `maxEntries`, however, the stored value stays unchanged.
 */
export function entryValues(input: z.output<typeof whitelistEntryRule>): WhitelistEntryValues {
  return {
    ...input,
    ...mapValues(optionalTexts, (_, name) => input[name] ?? null),
    validFrom: input.validFrom ?? null,
    validUntil: input.validUntil ?? null,
  };
}

const expectedVersionArg = {
  description:
    'The version of the whitelist entry that the client has read. If the whitelist entry has a different version when the gateway processes the mutation, the mutation fails. If `expectedVersion` is omitted, the gateway does not check the version.',
  validate: expectedVersion,
};
/** The options of a GraphQL argument that contains the id of a whitelist entry. */
export const entryIdArg = {
  required: true,
  description: 'Identifier of the entry.',
  validate: identifier,
} as const;

builder.mutationFields((t) => ({
  createWhitelistEntry: t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    errors: ['DUPLICATE_VEHICLE'],
    description:
      'Adds a vehicle to the whitelist of a location. Fails with `DUPLICATE_VEHICLE` when the whitelist already has an entry with the plate.',
    args: {
      locationId: t.arg.id(locationIdArg),
      input: t.arg({
        type: WhitelistEntryInput,
        required: true,
        description: 'The vehicle.',
        validate: whitelistEntryRule,
      }),
    },
    resolve: (_, { locationId, input }, context) =>
      context.services.whitelist.create(context, locationId, entryValues(input)),
  }),
  updateWhitelistEntry: t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    errors: ['DUPLICATE_VEHICLE'],
    description:
      'Replaces the values of a whitelist entry. If the input omits a value, the value becomes null. If the input omits `hours` or `maxEntries`, however, the stored value stays unchanged. Fails with `DUPLICATE_VEHICLE` when another whitelist entry of the location already has the plate. Fails with `CONFLICT` when the version of the whitelist entry is not `expectedVersion`.',
    args: {
      locationId: t.arg.id(locationIdArg),
      id: t.arg.id(entryIdArg),
      input: t.arg({
        type: WhitelistEntryInput,
        required: true,
        description: 'The new values.',
        validate: whitelistEntryRule,
      }),
      expectedVersion: t.arg.int(expectedVersionArg),
    },
    resolve: (_, { locationId, id, input, expectedVersion }, context) =>
      context.services.whitelist.update(context, locationId, id, entryValues(input), expectedVersion),
  }),
  deleteWhitelistEntry: t.field({
    type: WhitelistEntry,
    permission: 'WRITE_WHITELIST',
    description:
      'Removes a whitelist entry and returns its last values. Fails with `CONFLICT` when the version of the whitelist entry is not `expectedVersion`.',
    args: {
      locationId: t.arg.id(locationIdArg),
      id: t.arg.id(entryIdArg),
      expectedVersion: t.arg.int(expectedVersionArg),
    },
    resolve: (_, { locationId, id, expectedVersion }, context) =>
      context.services.whitelist.remove(context, locationId, id, expectedVersion),
  }),
}));
