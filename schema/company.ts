import { z } from 'zod';
import { tiedTo } from '../src/auth/key.ts';
import type { ReadCompany } from '../src/companies/reads.ts';
import { builder } from './builder.ts';
import { Location, LocationConnection } from './location.ts';
import { mapValues } from '../src/map-values.ts';
import { keysetConnection } from './pagination.ts';
import { filledText, freeObject, slug, text } from './rules.ts';

const companyName = /^[\p{L}\p{M}\p{Nd} \-&.,()]*$/u;

const isWebAddress = (value: string) => z.url({ protocol: /^https?$/ }).safeParse(value).success;

const webAddress = text(2048).refine(
  (value) => value === '' || isWebAddress(value),
  'Must be a valid http or https URL, or empty',
);

/** The Company rules of the specification ("Company"), in the order of its field table. */
const registerCompanyRule = z.object({
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

/** A partial update: what is sent must keep the rules, and something must be sent. */
const updateCompanyRule = registerCompanyRule
  .omit({ slug: true })
  .partial()
  .refine((fields) => Object.keys(fields).length > 0, 'At least one field to change is required');

const Company = builder.objectRef<ReadCompany>('Company').implement({
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
    settings: t.field({
      type: 'JSON',
      nullable: true,
      complexity: { field: 5, multiplier: 1, reads: true }, // each is read apart, since it may be large
      description: 'Settings of the company: an object of free content.',
      resolve: ({ id }, _, context) => context.companies.settingsOf(context, id),
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
      resolve: ({ id }, args, { key, locations }) => keysetConnection(args, locations.ofCompany(key, id)),
    },
    LocationConnection,
  ),
);
builder.objectField(Location, 'company', (t) =>
  t.field({
    type: Company,
    permission: 'READ_COMPANIES',
    description: 'The company that owns the location.',
    resolve: (location, _, { companies }) => companies.ownerOf(location),
  }),
);

builder.queryFields((t) => ({
  companies: t.connection(
    {
      type: Company,
      permission: 'READ_COMPANIES',
      description:
        'The companies that the key may see, oldest first: those it is tied to, and those that own a location it is tied to.',
      resolve: (_, args, { key, companies }) => keysetConnection(args, companies.visibleTo(key)),
    },
    CompanyConnection,
  ),
  company: t.field({
    type: Company,
    permission: 'READ_COMPANIES',
    errors: ['FORBIDDEN'],
    description: 'One company. `FORBIDDEN` when the key is not tied to it, or it does not exist.',
    args: { id: t.arg.id({ required: true, description: 'Identifier of the company.' }) },
    resolve: (_, { id }, { key, companies }) => companies.find(key, id),
  }),
}));

const fieldDescriptions = {
  name: '1 to 100 characters: letters and digits of any script, spaces and - & . , ( ).',
  address: '1 to 200 characters, not only white space.',
  settings: 'An object of free content: at most 10 levels and 16 KiB of JSON.',
};

/** Texts of a company that may be left out, in both inputs. */
const optionalTexts = {
  externalCompanyId: "The client's own reference, at most 50 characters.",
  description: 'At most 500 characters.',
  phone: 'At most 20 characters.',
  email: 'A valid e-mail address, or empty.',
  website: 'A valid http or https URL, or empty.',
  logo: 'A valid http or https URL, or empty.',
};

const RegisterCompanyInput = builder.inputType('RegisterCompanyInput', {
  description: 'A company to register.',
  fields: (t) => ({
    name: t.string({ required: true, description: fieldDescriptions.name }),
    slug: t.string({
      required: true,
      description:
        '1 to 50 characters: lowercase letters, digits and single inner hyphens; unique among all companies.',
    }),
    address: t.string({ required: true, description: fieldDescriptions.address }),
    ...mapValues(optionalTexts, (description) => t.string({ description })),
    settings: t.field({ type: 'JSON', description: fieldDescriptions.settings }),
  }),
});

const UpdateCompanyInput = builder.inputType('UpdateCompanyInput', {
  description:
    'The fields of a company to change; what is left out stays as it is. The slug cannot be changed.',
  fields: (t) => ({
    name: t.string({ description: fieldDescriptions.name }),
    address: t.string({ description: fieldDescriptions.address }),
    ...mapValues(optionalTexts, (description) => t.string({ description })),
    settings: t.field({ type: 'JSON', description: fieldDescriptions.settings }),
  }),
});

builder.mutationFields((t) => ({
  registerCompany: t.field({
    type: Company,
    permission: 'REGISTER_COMPANIES',
    errors: ['CONFLICT_ERROR'],
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
      const company = await context.companies.register(context, input);
      context.key = tiedTo(context.key, company.id);
      return company;
    },
  }),
  updateCompany: t.field({
    type: Company,
    permission: 'WRITE_COMPANIES',
    errors: ['FORBIDDEN'],
    description:
      'Changes the fields that are sent. `FORBIDDEN` when the key is not tied to the company, or it does not exist.',
    args: {
      id: t.arg.id({ required: true, description: 'Identifier of the company.' }),
      input: t.arg({
        type: UpdateCompanyInput,
        required: true,
        description: 'What to change.',
        validate: updateCompanyRule,
      }),
    },
    resolve: (_, { id, input }, context) => context.companies.update(context, id, input),
  }),
}));
