import { z } from 'zod';
import { recordChange } from '../src/audit.ts';
import { tiedTo } from '../src/auth.ts';
import { isUniqueViolation } from '../src/db-errors.ts';
import { companyForbidden, ServiceError } from '../src/errors.ts';
import { isId, newId } from '../src/ids.ts';
import { companyScope, reachesCompany } from '../src/scope.ts';
import { builder } from './builder.ts';
import { Location, LocationConnection } from './location.ts';
import { idOrder, idWhere, keysetConnection } from './pagination.ts';
import { filledText, freeObject, slug, text } from './rules.ts';

const companyName = /^[\p{L}\p{M}\p{Nd} \-&.,()]*$/u;

const isWebAddress = (value: string) => z.url({ protocol: /^https?$/ }).safeParse(value).success;

const webAddress = text(2048).refine(
  (value) => value === '' || isWebAddress(value),
  'Must be a valid http or https URL, or empty',
);

/** The Company rules of the specification ("Company"), in the order of its field table. */
export const registerCompanyRule = z.object({
  name: filledText(100, 'Company name is required').regex(
    companyName,
    'Company name contains invalid characters',
  ),
  slug: slug('Company slug must contain only lowercase letters, numbers, and hyphens'),
  address: filledText(200, 'Business address is required'),
  externalCompanyId: text(50).nullish(),
  description: text(500).nullish(),
  phone: text(20).nullish(),
  email: text(254)
    .refine(
      (value) => value === '' || z.email().safeParse(value).success,
      'Must be a valid e-mail address, or empty',
    )
    .nullish(),
  website: webAddress.nullish(),
  logo: webAddress.nullish(),
  settings: freeObject.nullish(),
});

export const Company = builder.prismaObject('Company', {
  description: 'A company that owns parking locations.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the company.' }),
    name: t.exposeString('name', { description: 'Name, 1 to 100 characters.' }),
    slug: t.exposeString('slug', { description: 'Short name for addresses; unique among all companies.' }),
    address: t.exposeString('address', { description: 'Business address, 1 to 200 characters.' }),
    externalCompanyId: t.exposeString('externalCompanyId', {
      nullable: true,
      description: "The client's own reference, at most 50 characters.",
    }),
    description: t.exposeString('description', { nullable: true, description: 'At most 500 characters.' }),
    phone: t.exposeString('phone', {
      nullable: true,
      description: 'Telephone number, at most 20 characters.',
    }),
    email: t.exposeString('email', { nullable: true, description: 'E-mail address, or empty.' }),
    website: t.exposeString('website', { nullable: true, description: 'URL of the website, or empty.' }),
    logo: t.exposeString('logo', { nullable: true, description: 'URL of the logo, or empty.' }),
    settings: t.expose('settings', {
      type: 'JSON',
      nullable: true,
      description: 'Settings of the company: an object of free content.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the company was registered.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the company last changed.' }),
  }),
});

const CompanyConnection = builder.connectionObject(
  { type: Company, name: 'CompanyConnection', description: 'A page of companies.' },
  { name: 'CompanyEdge', description: 'A company and its place in the list.' },
);

builder.objectField(Company, 'locations', (t) =>
  t.connection(
    {
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The locations of the company that the key reaches, oldest first.',
      resolve: (company, args, { key, locations }) =>
        keysetConnection(
          args,
          (page) => locations.ofCompany({ ...page, companyId: company.id, key }),
          () => locations.countOfCompany({ companyId: company.id, key }),
        ),
    },
    LocationConnection,
  ),
);
builder.objectField(Location, 'company', (t) =>
  t.field({
    type: Company,
    permission: 'READ_COMPANIES',
    description: 'The company that owns the location.',
    resolve: async ({ companyId }, _, { locations }) => {
      const company = await locations.company(companyId);
      if (!company) throw companyForbidden(companyId);
      return company;
    },
  }),
);

builder.queryFields((t) => ({
  companies: t.connection(
    {
      type: Company,
      permission: 'READ_COMPANIES',
      description:
        'The companies that the key may see, oldest first: those it is tied to, and those that own a location it is tied to.',
      resolve: (_, args, { key, prisma }) => {
        const where = companyScope(key);
        return keysetConnection(
          args,
          (page) => prisma.company.findMany({ where: { AND: [where, idWhere(page)] }, ...idOrder(page) }),
          () => prisma.company.count({ where }),
        );
      },
    },
    CompanyConnection,
  ),
  company: t.field({
    type: Company,
    permission: 'READ_COMPANIES',
    description: 'One company. `FORBIDDEN` when the key is not tied to it, or it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the company.' }) },
    resolve: async (_, { id }, { key, locations }) => {
      const company = isId(id) && reachesCompany(key, id) ? await locations.company(id) : undefined;
      if (!company) throw companyForbidden(id);
      return company;
    },
  }),
}));

const RegisterCompanyInput = builder.inputType('RegisterCompanyInput', {
  description: 'A company to register.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: '1 to 100 characters: letters and digits of any script, spaces and - & . , ( ).',
    }),
    slug: t.string({
      required: true,
      description:
        '1 to 50 characters: lowercase letters, digits and single inner hyphens; unique among all companies.',
    }),
    address: t.string({ required: true, description: '1 to 200 characters, not only white space.' }),
    externalCompanyId: t.string({ description: "The client's own reference, at most 50 characters." }),
    description: t.string({ description: 'At most 500 characters.' }),
    phone: t.string({ description: 'At most 20 characters.' }),
    email: t.string({ description: 'A valid e-mail address, or empty.' }),
    website: t.string({ description: 'A valid http or https URL, or empty.' }),
    logo: t.string({ description: 'A valid http or https URL, or empty.' }),
    settings: t.field({ type: 'JSON', description: 'An object of free content, nested at most 32 levels.' }),
  }),
});

builder.mutationField('registerCompany', (t) =>
  t.field({
    type: Company,
    permission: 'REGISTER_COMPANIES',
    description:
      'Registers a company and ties the key to it. `CONFLICT_ERROR` when the slug is taken by another company.',
    args: {
      input: t.arg({
        type: RegisterCompanyInput,
        required: true,
        description: 'The company.',
        validate: registerCompanyRule,
      }),
    },
    resolve: async (_, { input }, context) => {
      const { key, prisma } = context;
      const company = await prisma
        .$transaction(async (transaction) => {
          const registered = await transaction.company.create({
            data: {
              ...input,
              settings: input.settings ?? undefined,
              id: newId(),
              // An operator's key reaches every company without being tied to one.
              ...(!key.unrestricted && { apiKeys: { connect: { id: key.id } } }),
            },
          });
          await recordChange(transaction, context, {
            action: 'company.registered',
            targetId: registered.id,
            companyId: registered.id,
            changes: registered,
          });
          return registered;
        })
        .catch((error: unknown) => {
          if (!isUniqueViolation(error, 'company_slug_unique')) throw error;
          throw new ServiceError('CONFLICT_ERROR', 'Company slug already exists', {
            field: 'slug',
            value: input.slug,
          });
        });
      context.key = tiedTo(key, company.id);
      await context.authenticator.keysChanged();
      return company;
    },
  }),
);
