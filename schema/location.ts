import { z } from 'zod';
import { recordChange } from '../src/audit.ts';
import type { Context } from '../src/context.ts';
import { isUniqueViolation } from '../src/db-errors.ts';
import { companyForbidden, invalidField, locationNotFound, ServiceError } from '../src/errors.ts';
import { isId, newId } from '../src/ids.ts';
import { lockLocation } from '../src/location-lock.ts';
import { countInside, recordStateChange } from '../src/location-state.ts';
import { locationScope, reachable, reachesCompany } from '../src/scope.ts';
import { builder } from './builder.ts';
import { idOrder, idWhere, keysetConnection } from './pagination.ts';
import { filledText, slug, text, wholeNumber } from './rules.ts';

function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name })) && /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

const locationFields = {
  name: filledText(100, 'Location name is required'),
  slug: slug('Slug must contain only lowercase letters, numbers, and hyphens'),
  address: text(200).nullish(),
  description: text(500).nullish(),
  capacity: wholeNumber(0).nullish(),
  timezone: z.string().refine(isTimeZone, 'Must be an IANA time zone name, such as Asia/Dubai'),
};

/** The Location rules (decisions, "location"), in the order of its fields. */
export const createLocationRule = z.object({
  companyId: z.string().nullish(),
  ...locationFields,
  timezone: locationFields.timezone.nullish(),
});

/** A partial update: what is sent must keep the rules, and something must be sent. */
export const updateLocationRule = z
  .object({
    name: locationFields.name.optional(),
    slug: locationFields.slug.optional(),
    address: locationFields.address,
    description: locationFields.description,
    capacity: locationFields.capacity,
    timezone: locationFields.timezone.optional(),
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
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the location was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the location last changed.' }),
  }),
});

export const LocationConnection = builder.connectionObject(
  { type: Location, name: 'LocationConnection', description: 'A page of locations.' },
  { name: 'LocationEdge', description: 'A location and its place in the list.' },
);

/**
 * The location of an id that a client sent.
 *
 * @throws {ServiceError} `NOT_FOUND` for an unknown location and for one out of the key's reach
 */
export async function findLocation(id: string, { key, locations }: Context) {
  return reachable(key, id, isId(id) ? await locations.location(id) : undefined);
}

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
      resolve: (_, { companyId, ...args }, { key, prisma }) => {
        if (companyId && !(isId(companyId) && reachesCompany(key, companyId)))
          throw companyForbidden(companyId);
        const where = { AND: [locationScope(key), companyId ? { companyId } : {}] };
        return keysetConnection(
          args,
          (page) => prisma.location.findMany({ where: { AND: [where, idWhere(page)] }, ...idOrder(page) }),
          () => prisma.location.count({ where }),
        );
      },
    },
    LocationConnection,
  ),
  location: t.field({
    type: Location,
    permission: 'READ_LOCATIONS',
    description: 'One location. `NOT_FOUND` when it does not exist or the key does not reach it.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the location.' }) },
    resolve: (_, { id }, context) => findLocation(id, context),
  }),
}));

const fieldDescriptions = {
  name: '1 to 100 characters, not only white space.',
  slug: '1 to 50 characters: lowercase letters, digits and single inner hyphens; unique within the company.',
  address: 'At most 200 characters.',
  description: 'At most 500 characters.',
  capacity: 'How many vehicles fit, 0 or more; null when unknown.',
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
  }),
});

/**
 * The company that something new belongs to (decisions, "POST /locations").
 *
 * @param what is created, in the plural
 * @throws {ServiceError} `FORBIDDEN` for a company out of reach, `VALIDATION_ERROR` when it must be named
 */
export async function owningCompany(
  companyId: string | null | undefined,
  what: string,
  { key, prisma }: Context,
): Promise<string> {
  if (!key.unrestricted && key.companyIds.length === 0) {
    throw new ServiceError('FORBIDDEN', `API key is not tied to a company and cannot create ${what}`);
  }
  if (companyId) {
    const tied = isId(companyId) && (key.unrestricted || key.companyIds.includes(companyId));
    if (!tied || !(await prisma.company.findUnique({ where: { id: companyId }, select: { id: true } }))) {
      throw companyForbidden(companyId);
    }
    return companyId;
  }
  const companies = key.unrestricted
    ? (await prisma.company.findMany({ select: { id: true }, take: 2 })).map((company) => company.id)
    : key.companyIds;
  const [only, ...others] = companies;
  if (!only || others.length > 0) throw invalidField('companyId', 'Missing required field: companyId', null);
  return only;
}

function slugTaken(slugOfLocation: string | undefined) {
  return (error: unknown): never => {
    if (!isUniqueViolation(error, 'location_company_slug_unique')) throw error;
    throw new ServiceError('CONFLICT', 'Location slug already exists in this company', {
      field: 'slug',
      value: slugOfLocation,
    });
  };
}

builder.mutationFields((t) => ({
  createLocation: t.field({
    type: Location,
    permission: 'WRITE_LOCATIONS',
    description: 'Creates a location. `CONFLICT` when its company has one with the slug.',
    args: {
      input: t.arg({
        type: CreateLocationInput,
        required: true,
        description: 'The location.',
        validate: createLocationRule,
      }),
    },
    resolve: async (_, { input }, context) => {
      const companyId = await owningCompany(input.companyId, 'locations', context);
      return context.prisma
        .$transaction(async (transaction) => {
          const location = await transaction.location.create({
            data: { ...input, timezone: input.timezone ?? undefined, id: newId(), companyId },
          });
          await recordChange(transaction, context, {
            action: 'location.created',
            targetId: location.id,
            companyId,
            locationId: location.id,
            changes: location,
          });
          return location;
        })
        .catch(slugTaken(input.slug));
    },
  }),
  updateLocation: t.field({
    type: Location,
    permission: 'WRITE_LOCATIONS',
    description:
      'Changes the fields that are sent. `CONFLICT` when the company has another location with the slug.',
    args: {
      id: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      input: t.arg({
        type: UpdateLocationInput,
        required: true,
        description: 'What to change.',
        validate: updateLocationRule,
      }),
    },
    resolve: async (_, { id, input }, context) => {
      if (!isId(id)) throw locationNotFound(id);
      const { name, slug, timezone, ...optional } = input;
      const updated = await context.prisma
        .$transaction(async (transaction) => {
          const before = await lockLocation(transaction, id, context.key);
          const after = await transaction.location.update({
            where: { id },
            data: {
              ...optional,
              name: name ?? undefined,
              slug: slug ?? undefined,
              timezone: timezone ?? undefined,
              updatedAt: new Date(),
            },
          });
          await recordChange(transaction, context, {
            action: 'location.updated',
            targetId: id,
            companyId: after.companyId,
            locationId: id,
            changes: { before, after },
          });
          const occupied = await countInside(transaction, id);
          await recordStateChange(transaction, context, after, {
            before: { capacity: before.capacity, occupied },
            after: { capacity: after.capacity, occupied },
          });
          return after;
        })
        .catch(slugTaken(slug ?? undefined));
      context.statusNotices.publish(id);
      return updated;
    },
  }),
}));
