import { z } from 'zod';
import type { ReadCompany } from '../src/companies/reads.ts';
import { builder } from './builder.ts';
import { Location, LocationConnection } from './location.ts';
import { mapValues } from './map-values.ts';
import { keysetConnection } from './pagination.ts';
import {
  atLeastOneField,
  emptyOr,
  filledText,
  freeObject,
  identifier,
  slug,
  slugDescription,
  text,
  urlText,
} from './rules.ts';

const companyName = /^[\p{L}\p{M}\p{Nd} \-&.,()]*$/u;

/**
 * The regular expression that the JSON Schema contains for company names. The regular expression does not use `\p{L}`
 * (any letter), because some other programming languages do not support `\p{L}`. For characters up to U+009F, this
 * regular expression and the regular expression `companyName` accept the same characters. This regular expression is
 * less strict than `companyName`, because it accepts every character above U+009F.
 */
const portableCompanyName =
  '^[^\\x00-\\x1F\\x21-\\x25\\x27\\x2A-\\x2B\\x2F\\x3A-\\x40\\x5B-\\x60\\x7B-\\x9F]*$';

/**
 * The maximum lengths of a company's text fields, in characters. The validation rules and the descriptions of the
 * company's fields use these maximum lengths.
 */
const maxLength = { name: 100, address: 200, externalCompanyId: 50, description: 500, phone: 20 };

const webAddress = emptyOr('uri', urlText(2048), {
  isValid: (value) => z.url({ protocol: /^https?$/ }).safeParse(value).success,
  message: 'Must be a valid http or https URL, or empty',
});

/**
 * Matches an e-mail address that is valid in HTML (https://html.spec.whatwg.org/#valid-e-mail-address) and has a dot in
 * its domain. Zod's default pattern rejects some valid addresses, such as addresses in internationalized domains.
 */
const emailAddress = z.email({ pattern: z.regexes.html5Email }).regex(/@.+\./);

/** The validation rules of a company, in the order of the field table (docs/contract.md#company). */
const registerCompanyRule = z.object({
  name: filledText(maxLength.name, 'Company name is required')
    .regex(companyName, 'Company name contains invalid characters')
    .meta({ pattern: portableCompanyName }),
  slug: slug('Company slug must contain only lowercase letters, numbers, and hyphens'),
  address: filledText(maxLength.address, 'Business address is required'),
  externalCompanyId: text(maxLength.externalCompanyId).nullish(),
  description: text(maxLength.description).nullish(),
  phone: text(maxLength.phone).nullish(),
  email: emptyOr('email', text(254), {
    isValid: (value) => emailAddress.safeParse(value).success,
    message: 'Must be a valid e-mail address, or empty',
  }).nullish(),
  website: webAddress.nullish(),
  logo: webAddress.nullish(),
  settings: freeObject.nullish(),
});

/**
 * Validates the new values that a client sends to change a company. The input of the mutation must contain at least one
 * field to change.
 */
const updateCompanyRule = atLeastOneField(registerCompanyRule.omit({ slug: true }).partial());

const Company = builder.objectRef<ReadCompany>('Company').implement({
  description: 'A company that owns parking locations.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the company.' }),
    name: t.exposeString('name', { description: `Name, 1 to ${maxLength.name} characters.` }),
    slug: t.exposeString('slug', {
      description: 'Short name of the company for URLs; unique among all companies.',
    }),
    address: t.exposeString('address', {
      description: `Business address, 1 to ${maxLength.address} characters.`,
    }),
    externalCompanyId: t.exposeString('externalCompanyId', {
      nullable: true,
      description: `The client's own identifier of the company, at most ${maxLength.externalCompanyId} characters.`,
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: `At most ${maxLength.description} characters.`,
    }),
    phone: t.exposeString('phone', {
      nullable: true,
      description: `Telephone number, at most ${maxLength.phone} characters.`,
    }),
    email: t.exposeString('email', { nullable: true, description: 'E-mail address, or empty.' }),
    website: t.exposeString('website', { nullable: true, description: 'URL of the website, or empty.' }),
    logo: t.exposeString('logo', { nullable: true, description: 'URL of the logo, or empty.' }),
    settings: t.field({
      type: 'JSON',
      nullable: true,
      // The field `settings` has the cost 5 instead of 1. Company settings can be large, and the gateway needs an
      // additional SQL statement to read them.
      complexity: { field: 5, multiplier: 1, reads: true },
      description: 'Settings of the company: any JSON object.',
      resolve: ({ id }, _, context) => context.services.companies.settingsOf(context, id),
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'The time at which the company was registered.',
    }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'The time at which the company last changed.',
    }),
  }),
});

const CompanyConnection = builder.connectionObject(
  { type: Company, name: 'CompanyConnection', description: 'A page of companies.' },
  { name: 'CompanyEdge', description: 'A company with its cursor in the list.' },
);

builder.objectField(Company, 'locations', (t) =>
  t.connection(
    {
      type: Location,
      permission: 'READ_LOCATIONS',
      description: 'The locations of the company that are in the scope of the API key, oldest first.',
      resolve: ({ id }, args, { key, services: { locations } }) =>
        keysetConnection(args, locations.ofCompany(key, id)),
    },
    LocationConnection,
  ),
);
builder.objectField(Location, 'company', (t) =>
  t.field({
    type: Company,
    permission: 'READ_COMPANIES',
    description: 'The company that owns the location.',
    resolve: (location, _, { services: { companies } }) => companies.ownerOf(location),
  }),
);

const idArg = { required: true, description: 'Identifier of the company.', validate: identifier } as const;

builder.queryFields((t) => ({
  companies: t.connection(
    {
      type: Company,
      permission: 'READ_COMPANIES',
      description:
        'The companies that the API key may see, oldest first. An API key may see the companies in its scope, and the companies that own the locations in its scope.',
      resolve: (_, args, { key, services: { companies } }) =>
        keysetConnection(args, companies.visibleTo(key)),
    },
    CompanyConnection,
  ),
  company: t.field({
    type: Company,
    permission: 'READ_COMPANIES',
    errors: ['FORBIDDEN'],
    description:
      'One company. Fails with `FORBIDDEN` when the company is outside the scope of the API key or does not exist.',
    args: {
      id: t.arg.id(idArg),
    },
    resolve: (_, { id }, { key, services: { companies } }) => companies.find(key, id),
  }),
}));

const fieldDescriptions = {
  name: `1 to ${maxLength.name} characters: letters and digits of any script, spaces and - & . , ( ).`,
  address: `1 to ${maxLength.address} characters, at least one of them not white space.`,
  settings: 'Any JSON object with at most 10 nesting levels and 16 KiB.',
};

/**
 * The optional text fields of a company, with their descriptions. A client sends these fields to register or change a
 * company.
 */
const optionalTexts = {
  externalCompanyId: `The client's own identifier of the company, at most ${maxLength.externalCompanyId} characters.`,
  description: `At most ${maxLength.description} characters.`,
  phone: `At most ${maxLength.phone} characters.`,
  email: 'A valid e-mail address, or empty.',
  website: 'A valid http or https URL without white space, or empty.',
  logo: 'A valid http or https URL without white space, or empty.',
};

const RegisterCompanyInput = builder.inputType('RegisterCompanyInput', {
  description: 'A company to register.',
  fields: (t) => ({
    name: t.string({ required: true, description: fieldDescriptions.name }),
    slug: t.string({
      required: true,
      description: `${slugDescription} Unique among all companies.`,
    }),
    address: t.string({ required: true, description: fieldDescriptions.address }),
    ...mapValues(optionalTexts, (description) => t.string({ description })),
    settings: t.field({ type: 'JSON', description: fieldDescriptions.settings }),
  }),
});

const UpdateCompanyInput = builder.inputType('UpdateCompanyInput', {
  description:
    'The new values for some fields of a company. Omitted fields are unchanged. The slug cannot be changed.',
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
      'Registers a company and adds the company to the scope of the API key. Fails with `CONFLICT_ERROR` when another company already has the same slug.',
    args: {
      input: t.arg({
        type: RegisterCompanyInput,
        required: true,
        description: 'The company.',
        validate: registerCompanyRule,
      }),
    },
    resolve: (_, { input }, context) => context.services.companies.register(context, input),
  }),
  updateCompany: t.field({
    type: Company,
    permission: 'WRITE_COMPANIES',
    errors: ['FORBIDDEN'],
    description:
      'Changes the given fields of a company. Fails with `FORBIDDEN` when the company is outside the scope of the API key or does not exist.',
    args: {
      id: t.arg.id(idArg),
      input: t.arg({
        type: UpdateCompanyInput,
        required: true,
        description: 'The changes.',
        validate: updateCompanyRule,
      }),
    },
    resolve: (_, { id, input }, context) => context.services.companies.update(context, id, input),
  }),
}));
