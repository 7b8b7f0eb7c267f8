import { z } from 'zod';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import { expectedVersion, filledText, slug, text, wholeNumber } from './rules.ts';

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name })) && /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

/** The longest of the longest stays, in hours: ten years. */
const maxLongestStayHours = 87_600;

const locationFields = {
  name: filledText(100, 'Location name is required'),
  slug: slug('Slug must contain only lowercase letters, numbers, and hyphens'),
  address: text(200).nullish(),
  description: text(500).nullish(),
  capacity: wholeNumber(0).nullish(),
  timezone: z.string().refine(isTimeZone, 'Must be an IANA time zone name, such as Asia/Dubai'),
  longestStayHours: wholeNumber(1, maxLongestStayHours).nullish(),
};

/** The Location rules (decisions, "location"), in the order of its fields. */
const createLocationRule = z.object({
  companyId: z.string().nullish(),
  ...locationFields,
  timezone: locationFields.timezone.nullish(),
});

/** A partial update: what is sent must keep the rules, and something must be sent. */
const updateLocationRule = z
  .object({
    name: locationFields.name.optional(),
    slug: locationFields.slug.optional(),
    address: locationFields.address,
    description: locationFields.description,
    capacity: locationFields.capacity,
    timezone: locationFields.timezone.optional(),
    longestStayHours: locationFields.longestStayHours,
  })
  .refine((fields) => Object.keys(fields).length > 0, 'At least one field to change is required');

export const Location = builder.prismaObject('Location', {
  description: 'A parking location of a company, with a whitelist of vehicles.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the location.' }),
    companyId: t.exposeID('companyId', { description: 'Identifier of the company that owns the location.' }),
    slug: t.exposeString('slug', { description: 'Short name for addresses; unique within the company.' }),
    name: t.exposeString('name', { description: 'Name, 1 to 100 characters.' }),
    address: t.exposeString('address', { nullable: true, description: 'At most 200 characters.' }),
    description: t.exposeString('description', { nullable: true, description: 'At most 500 characters.' }),
    capacity: t.exposeInt('capacity', {
      nullable: true,
      description: 'How many vehicles fit; null when unknown.',
    }),
    timezone: t.exposeString('timezone', {
      description: 'IANA name of the time zone, such as `Asia/Dubai`.',
    }),
    longestStayHours: t.exposeInt('longestStayHours', {
      nullable: true,
      description:
        'How long a vehicle stays at the most, in hours: after that it counts as gone (`UNSEEN_EXIT`); null for ever.',
    }),
    version: t.exposeInt('version', { description: 'Counts the changes, from 1 on; for `expectedVersion`.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the location was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the location last changed.' }),
  }),
});

export const LocationConnection = builder.connectionObject(
  { type: Location, name: 'LocationConnection', description: 'A page of locations.' },
  { name: 'LocationEdge', description: 'A location and its place in the list.' },
);

builder.queryFields((t) => ({
  locations: t.connection(
    {
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The locations that the key reaches, oldest first.',
      args: {
        companyId: t.arg.id({
          description: 'Only locations of this company. `FORBIDDEN` when the key may not see the company.',
        }),
      },
      resolve: (_, { companyId, ...args }, { key, locations }) =>
        keysetConnection(args, locations.reachedBy(key, companyId)),
    },
    LocationConnection,
  ),
  location: t.field({
    type: Location,
    permission: 'READ_LOCATIONS',
    errors: ['NOT_FOUND'],
    description: 'One location. `NOT_FOUND` when it does not exist or the key does not reach it.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
    resolve: (_, { id }, { key, locations }) => locations.find(key, id),
  }),
}));

const fieldDescriptions = {
  name: '1 to 100 characters, not only white space.',
  slug: '1 to 50 characters: lowercase letters, digits and single inner hyphens; unique within the company.',
  address: 'At most 200 characters.',
  description: 'At most 500 characters.',
  capacity: 'How many vehicles fit, 0 or more; null when unknown.',
  longestStayHours: `How long a vehicle stays at the most, 1 to ${maxLongestStayHours} hours; null for ever.`,
};

const CreateLocationInput = builder.inputType('CreateLocationInput', {
  description: 'A location to create.',
  fields: (t) => ({
    companyId: t.id({
      description: 'The owner; may be left out when the key is tied to exactly one company.',
    }),
    name: t.string({ required: true, description: fieldDescriptions.name }),
    slug: t.string({ required: true, description: fieldDescriptions.slug }),
    address: t.string({ description: fieldDescriptions.address }),
    description: t.string({ description: fieldDescriptions.description }),
    capacity: t.int({ description: fieldDescriptions.capacity }),
    timezone: t.string({ description: 'IANA name of the time zone; `UTC` when left out.' }),
    longestStayHours: t.int({
      description: fieldDescriptions.longestStayHours,
      extensions: { graphOnly: true },
    }),
  }),
});

const UpdateLocationInput = builder.inputType('UpdateLocationInput', {
  description: 'The fields of a location to change; what is left out stays as it is.',
  fields: (t) => ({
    name: t.string({ description: fieldDescriptions.name }),
    slug: t.string({ description: fieldDescriptions.slug }),
    address: t.string({ description: fieldDescriptions.address }),
    description: t.string({ description: fieldDescriptions.description }),
    capacity: t.int({ description: fieldDescriptions.capacity }),
    timezone: t.string({ description: 'IANA name of the time zone.' }),
    longestStayHours: t.int({
      description: `${fieldDescriptions.longestStayHours} Sessions become what they would be if it had always been so.`,
      extensions: { graphOnly: true },
    }),
  }),
});

builder.mutationFields((t) => ({
  createLocation: t.field({
    type: Location,
    permission: 'WRITE_LOCATIONS',
    errors: ['CONFLICT'],
    description: 'Creates a location. `CONFLICT` when its company has one with the slug.',
    args: {
      input: t.arg({
        type: CreateLocationInput,
        required: true,
        description: 'The location.',
        validate: createLocationRule,
      }),
    },
    resolve: (_, { input }, context) => context.locations.create(context, input),
  }),
  updateLocation: t.field({
    type: Location,
    permission: 'WRITE_LOCATIONS',
    errors: ['CONFLICT'],
    description:
      'Changes the fields that are sent. `CONFLICT` when the company has another location with the slug, and when the location has another version than the expected one.',
    args: {
      id: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      input: t.arg({
        type: UpdateLocationInput,
        required: true,
        description: 'What to change.',
        validate: updateLocationRule,
      }),
      expectedVersion: t.arg.int({
        description: 'The version that the location must still have; any when left out.',
        validate: expectedVersion,
      }),
    },
    resolve: (_, { id, input, expectedVersion }, context) =>
      context.locations.update(context, id, input, expectedVersion),
  }),
}));
