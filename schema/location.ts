import { z } from 'zod';
import { builder } from './builder.ts';
import { keysetConnection } from './pagination.ts';
import {
  atLeastOneField,
  expectedVersion,
  filledText,
  identifier,
  slug,
  slugDescription,
  text,
  wholeNumber,
} from './rules.ts';
import { timeZone } from './time-zone.ts';

/**
 * The maximum lengths of the text fields of a location, in characters. The validation rules enforce these maximum
 * lengths, and the descriptions of the fields show them.
 */
const maxLength = { name: 100, address: 200, description: 500 };

/** The maximum value of `longestStayHours`, which is ten years. */
const maxLongestStayHours = 87_600;

const locationFields = {
  name: filledText(maxLength.name, 'Location name is required'),
  slug: slug('Slug must contain only lowercase letters, numbers, and hyphens'),
  address: text(maxLength.address).nullish(),
  description: text(maxLength.description).nullish(),
  capacity: wholeNumber(0).nullish(),
  timezone: timeZone,
  longestStayHours: wholeNumber(1, maxLongestStayHours).nullish(),
};

/** The validation rules of a location, in the order of its fields (docs/contract.md#location). */
const createLocationRule = z.object({
  companyId: identifier.nullish(),
  ...locationFields,
  timezone: locationFields.timezone.nullish(),
});

/** Validates a request to change a location. The request must contain at least one field of the location. */
const updateLocationRule = atLeastOneField(z.object(locationFields).partial());

export const Location = builder.prismaObject('Location', {
  description: 'A parking location of a company, with a whitelist of vehicles.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the location.' }),
    companyId: t.exposeID('companyId', { description: 'Identifier of the company that owns the location.' }),
    slug: t.exposeString('slug', {
      description: 'Short name of the location for URLs; unique within the company.',
    }),
    name: t.exposeString('name', { description: `Name, 1 to ${maxLength.name} characters.` }),
    address: t.exposeString('address', {
      nullable: true,
      description: `At most ${maxLength.address} characters.`,
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: `At most ${maxLength.description} characters.`,
    }),
    capacity: t.exposeInt('capacity', {
      nullable: true,
      description: 'Number of parking spaces; null when unknown.',
    }),
    timezone: t.exposeString('timezone', {
      description: 'IANA name of the time zone of the location, such as `Asia/Dubai`.',
    }),
    longestStayHours: t.exposeInt('longestStayHours', {
      nullable: true,
      description:
        'The maximum stay of a vehicle, in hours. After the maximum stay, the vehicle no longer counts as inside, and its parking session has the state `UNSEEN_EXIT`. Null means that a vehicle may stay without a time limit.',
    }),
    version: t.exposeInt('version', {
      description:
        'Version number of the location, which a client can send as `expectedVersion`. The version starts at 1 and increases with each change.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the location was created.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'The time at which the location last changed.',
    }),
  }),
});

export const LocationConnection = builder.connectionObject(
  { type: Location, name: 'LocationConnection', description: 'A page of locations.' },
  { name: 'LocationEdge', description: 'A location, together with its cursor for pagination.' },
);

/** The options of a GraphQL argument that contains the id of a location. */
export const locationIdArg = {
  required: true,
  description: 'Identifier of the location.',
  validate: identifier,
} as const;

builder.queryFields((t) => ({
  locations: t.connection(
    {
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The locations in the scope of the API key, oldest first.',
      args: {
        companyId: t.arg.id({
          description:
            'Identifier of a company: the list contains only locations of this company. Fails with `FORBIDDEN` when the API key may not see the company.',
          validate: identifier.nullish(),
        }),
        search: t.arg.string({
          description: `Text to search for, at most ${maxLength.name} characters: the list contains only locations whose name contains this text, regardless of upper and lower case. If \`search\` is omitted or empty, the list contains all locations.`,
          validate: text(maxLength.name).nullish(),
        }),
      },
      resolve: (_, { companyId, search, ...args }, { key, services: { locations } }) =>
        keysetConnection(args, locations.inScopeOf(key, { companyId, search })),
    },
    LocationConnection,
  ),
  location: t.field({
    type: Location,
    permission: 'READ_LOCATIONS',
    errors: ['NOT_FOUND'],
    description:
      'One location. Fails with `NOT_FOUND` when the location does not exist or is outside the scope of the API key.',
    args: {
      id: t.arg.id(locationIdArg),
    },
    resolve: (_, { id }, { key, services: { locations } }) => locations.find(key, id),
  }),
}));

const fieldDescriptions = {
  name: `1 to ${maxLength.name} characters, at least one of them not white space.`,
  slug: `${slugDescription} Unique within the company.`,
  address: `At most ${maxLength.address} characters.`,
  description: `At most ${maxLength.description} characters.`,
  capacity: 'Number of parking spaces, 0 or more; null when unknown.',
  longestStayHours: `The maximum stay of a vehicle, 1 to ${maxLongestStayHours} hours; null for no limit.`,
};

const CreateLocationInput = builder.inputType('CreateLocationInput', {
  description: 'A location to create.',
  fields: (t) => ({
    companyId: t.id({
      description:
        'The company that will own the new location. The client may omit `companyId` when exactly one company is in the scope of the API key.',
    }),
    name: t.string({ required: true, description: fieldDescriptions.name }),
    slug: t.string({ required: true, description: fieldDescriptions.slug }),
    address: t.string({ description: fieldDescriptions.address }),
    description: t.string({ description: fieldDescriptions.description }),
    capacity: t.int({ description: fieldDescriptions.capacity }),
    timezone: t.string({ description: 'IANA name of the time zone of the location. Default: `UTC`.' }),
    longestStayHours: t.int({
      description: fieldDescriptions.longestStayHours,
      extensions: { graphOnly: true },
    }),
  }),
});

const UpdateLocationInput = builder.inputType('UpdateLocationInput', {
  description: 'The new values for some fields of a location. Omitted fields are unchanged.',
  fields: (t) => ({
    name: t.string({ description: fieldDescriptions.name }),
    slug: t.string({ description: fieldDescriptions.slug }),
    address: t.string({ description: fieldDescriptions.address }),
    description: t.string({ description: fieldDescriptions.description }),
    capacity: t.int({ description: fieldDescriptions.capacity }),
    timezone: t.string({ description: 'IANA name of the time zone of the location.' }),
    longestStayHours: t.int({
      description: `${fieldDescriptions.longestStayHours} A change of the maximum stay also applies to past parking sessions.`,
      extensions: { graphOnly: true },
    }),
  }),
});

/**
 * The cost of a request that changes the maximum stay at a location. A change of the maximum stay is expensive, because
 * the gateway then recalculates all parking sessions of the location.
 */
const longestStayCost = 8_000;

/**
 * Returns the cost of a request that changes a location. A request with a new maximum stay costs more than a request
 * with any other change.
 */
const updateCost = ({ input }: Readonly<Record<string, unknown>>) =>
  typeof input === 'object' && input !== null && 'longestStayHours' in input ? longestStayCost : 1;

builder.mutationFields((t) => ({
  createLocation: t.field({
    type: Location,
    permission: 'WRITE_LOCATIONS',
    errors: ['CONFLICT'],
    description:
      'Creates a location. Fails with `CONFLICT` when the company already has a location with the same slug.',
    args: {
      input: t.arg({
        type: CreateLocationInput,
        required: true,
        description: 'The location.',
        validate: createLocationRule,
      }),
    },
    resolve: (_, { input }, context) => context.services.locations.create(context, input),
  }),
  updateLocation: t.field({
    type: Location,
    permission: 'WRITE_LOCATIONS',
    errors: ['CONFLICT'],
    complexity: { field: updateCost, multiplier: 1 },
    description:
      'Changes the given fields of a location. A change of `longestStayHours` costs five rate limit points. Fails with `CONFLICT` when the company has another location with the same slug, or when the version of the location is not `expectedVersion`.',
    args: {
      id: t.arg.id(locationIdArg),
      input: t.arg({
        type: UpdateLocationInput,
        required: true,
        description: 'The changes.',
        validate: updateLocationRule,
      }),
      expectedVersion: t.arg.int({
        description:
          'The version of the location that the client has read. Fails with `CONFLICT` when the current version of the location is not `expectedVersion`. If `expectedVersion` is omitted, the gateway does not check the version.',
        validate: expectedVersion,
      }),
    },
    resolve: (_, { id, input, expectedVersion }, context) =>
      context.services.locations.update(context, id, input, expectedVersion),
  }),
}));
