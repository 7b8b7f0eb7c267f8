import type { ErrorCode } from '../src/errors/error-table.ts';
import type { Route } from './routes.ts';

/** What a client should know that belongs to no single endpoint (the published decisions). */
export const introduction = `
Companies, parking locations and, for each location, a whitelist of vehicles. The same data, rules, keys and
limits are served as a graph under \`/graphql\`.

## Keys
Every request carries its key in \`X-API-Key\`. A key has permissions, is tied to companies or single
locations, and has limits of its own. Registering a company ties the key to it.

## NOT_FOUND or FORBIDDEN
- \`NOT_FOUND\`: the location or entry does not exist, or the location is out of the key's reach. The two
  answers are the same.
- \`FORBIDDEN\`: the key lacks a permission, or is not tied to the company; an unknown company answers the same.
- The permission is checked first.

## Conflicts
- \`CONFLICT_ERROR\`: registration with a company slug that is taken.
- \`CONFLICT\`: a location slug that is taken in its company, on create and on update.
- \`CONFLICT\` with the status 412: the entry or location has changed since the \`ETag\` in \`If-Match\`.
- \`DUPLICATE_VEHICLE\`: a plate that the whitelist of the location has, on create and on replace.

## Plates and other strings
Plates are compared exactly as sent: \`DXB/A/7\`, \`DXB/a/7\` and \`DXB/A/007\` are three vehicles. Strings are
kept as sent, not trimmed. Control characters other than tab and newline are refused.

## Writing
- \`PUT\` of a whitelist entry replaces it: the required fields are those of create, what is left out becomes null.
- \`PUT\` of a location changes only the fields that are sent, at least one.
- \`null\` for a required field counts as missing. Unknown fields are ignored.
- With several faults, \`details.field\` names the first and \`details.errors\` lists all.

## Lists
Lists are whole and ordered by creation, oldest first. With \`limit\` or \`cursor\` they come in pages:
\`nextCursor\` is the \`cursor\` of the next page, null on the last. An empty filter is no filter; of a
repeated parameter the first value counts.

The list of a whitelist has an \`ETag\`. Sent back in \`If-None-Match\` it gives a 304 without a body while nothing has
changed in the whitelist of the location; any change there gives the list again, whatever the filters.

## Moving to the graph
With \`Accept: application/graphql-request+json\` a request is not executed but answered with the GraphQL request that
serves it, \`{ "query", "operationName", "variables" }\`, ready to be posted to \`/graphql\`. It takes any valid key, no
permission, and costs one point. For a whole list it is the request of the first 100 items. \`pms translate\` does it for
a curl line or a HAR file, and \`pms parity\` compares both surfaces. [Moving from REST to GraphQL](/moving-to-graphql)
has each endpoint with its document and what differs, in curl, TypeScript and Python.

Deprecated paths say so in \`Deprecation\`, \`Sunset\` and \`Link\`, and \`viewer { deprecations }\` counts their use. Before
they are removed they may be switched off for a while: \`Brownout\` tells when, and in that time they answer 410.

## Limits
A key may make so many requests in a rolling hour (1000 unless agreed otherwise) and in a rolling minute (100),
over both surfaces together. A REST request is one point; a request to the graph costs more when it changes several
things or asks for much. A refused request does not count.

\`X-RateLimit-*\` tell of the hour, \`RateLimit-Policy\` and \`RateLimit\` of both windows by name. A 429 carries
\`Retry-After\`, the longer wait of both. Requests without a valid key, and these pages, draw on a budget of the
client's address.

A body may have 1 MiB, 16 MiB on the graph. An unknown path answers 404, a wrong method 405 with \`Allow\`, both in the error envelope.
`.trim();

/** When each code is sent (specification, "Codes"). */
export const errorDescriptions: Record<ErrorCode, string> = {
  UNAUTHORIZED: 'The key is missing or invalid.',
  FORBIDDEN: 'The key lacks the permission, or is not tied to the company.',
  NOT_FOUND: 'The location or whitelist entry does not exist, or is out of reach of the key.',
  VALIDATION_ERROR: 'The request breaks a rule.',
  CONFLICT: 'The company has a location with the slug, or what was to be changed has another version.',
  CONFLICT_ERROR: 'The company slug is taken.',
  DUPLICATE_VEHICLE: 'The whitelist has the plate.',
  RATE_LIMIT_EXCEEDED: 'More requests than the key, or the address, may make.',
  INTERNAL_ERROR: 'The service failed; `requestId` names the request to the operator.',
};

/** The groups of the reference, in its order. */
export const tags: Record<Route['tag'], string> = {
  Service: 'Whether the service answers.',
  Companies: 'Owners of locations.',
  Locations: 'Parking locations, and how full they are.',
  Whitelist: 'The vehicles that may enter a location.',
  Residents: 'What the whitelist was before version 1.3.0. To be removed in version 2.0.0.',
};

/** Request bodies that pass the rules, for each input of the graph. */
export const examples: Record<string, Record<string, Record<string, unknown>>> = {
  RegisterCompanyInput: {
    company: {
      name: 'Marina Parking, L.L.C. (Dubai)',
      slug: 'marina-parking',
      address: 'Al Marsa Street, Dubai Marina, Dubai',
      externalCompanyId: 'CRM-1042',
      email: 'gates@marina-parking.example',
      website: 'https://marina-parking.example',
      settings: { currency: 'AED' },
    },
    arabicName: { name: 'مواقف المارينا', slug: 'mawaqif-al-marina', address: 'دبي مارينا' },
  },
  CreateLocationInput: {
    location: {
      name: 'Marina Walk, Basement 2',
      slug: 'marina-walk-b2',
      address: 'Marina Walk, Dubai',
      capacity: 250,
      timezone: 'Asia/Dubai',
    },
  },
  UpdateLocationInput: {
    capacity: { capacity: 260 },
    slug: { slug: 'marina-walk-basement-2' },
  },
  WhitelistEntryInput: {
    dubai: {
      referenceId: 'unit-1204',
      plateType: 'DXB',
      plateCode: 'A',
      plateNumber: '12345',
      vehicleType: 'sedan',
      note: 'Second car',
    },
    abuDhabi: { referenceId: 'unit-1204', plateType: 'AUH', plateCode: '50', plateNumber: '7' },
    visitorUntilEvening: {
      referenceId: 'visitor-88',
      plateType: 'SHJ',
      plateCode: 'White',
      plateNumber: '90210',
      validFrom: '2026-01-31T08:00:00+04:00',
      validUntil: '2026-01-31T20:00:00+04:00',
    },
  },
};
