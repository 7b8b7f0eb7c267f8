import type { ErrorCode } from '../src/errors/error-table.ts';
import type { Route } from './routes.ts';

/** The introduction of the API reference, which explains the rules that apply to all endpoints. */
export const introduction = `
Companies, parking locations and, for each location, a whitelist of vehicles. The graph under \`/graphql\` serves the same
data with the same rules, keys and limits.

## Keys
Every request sends its key in \`X-API-Key\`. A key has permissions, a scope of companies or single locations, and its own
limits. Registering a company adds it to the scope of the key.

## NOT_FOUND or FORBIDDEN
- \`NOT_FOUND\`: the location or entry does not exist, or the location is outside the key's scope. Both responses are
  equal.
- \`FORBIDDEN\`: the key lacks a permission, or the company is outside its scope. An unknown company gets the same
  response.
- The permission is checked first.

## Conflicts
- \`CONFLICT_ERROR\`: another company has the slug, on registration.
- \`CONFLICT\`: another location of the company has the slug, on create and on update.
- \`CONFLICT\` with the status 412: the entry or location has changed since the \`ETag\` in \`If-Match\`.
- \`DUPLICATE_VEHICLE\`: the whitelist of the location already has the plate, on create and on replace.

## Plates and other strings
Plates are compared exactly as sent: \`DXB/A/7\`, \`DXB/a/7\` and \`DXB/A/007\` are three vehicles. Strings are stored as
sent and not trimmed. Control characters other than tab and newline are rejected.

## Writing
- \`PUT\` of a whitelist entry replaces it. The required fields are those of create; omitted fields become null.
- \`PUT\` of a location changes only the given fields, at least one.
- \`null\` for a required field counts as missing. Unknown fields are ignored.
- If several fields are invalid, \`details.field\` names the first and \`details.errors\` lists all.

## Lists
Lists are complete and ordered by creation, oldest first. With \`limit\` or \`cursor\` they come in pages: \`nextCursor\` is
the \`cursor\` of the next page, and null on the last page. An empty filter is ignored. Of a repeated parameter the first
value counts.

The list of a whitelist has an \`ETag\`. A request with this \`ETag\` in \`If-None-Match\` gets a 304 without a body while the
whitelist of the location is unchanged. After any change in that whitelist it gets the list again, whether or not the
filters match the change.

## Moving to the graph
A request with \`Accept: application/graphql-request+json\` is not executed. The response is the equivalent GraphQL request,
\`{ "query", "operationName", "variables" }\`, ready to be posted to \`/graphql\`. It needs a valid key but no permission, and
costs one point. For a whole list it is the request for the first 100 items. \`pms translate\` does the same for a curl
line or a HAR file, and \`pms parity\` compares both surfaces. [Moving from REST to GraphQL](/moving-to-graphql) shows the
document of each endpoint and the differences, in curl, TypeScript and Python.

Responses of deprecated paths have the headers \`Deprecation\`, \`Sunset\` and \`Link\`. \`viewer { deprecations }\` counts their
use. Before a deprecated path is removed it may be switched off for some periods, in which it answers 410. The header
\`Brownout\` announces these periods.

## Limits
A key has a limit for a rolling hour (1000 by default) and for a rolling minute (100 by default). Both surfaces share
them. A REST request costs one point. A GraphQL request costs more when it makes several changes or reads much. A refused
request does not count.

\`X-RateLimit-*\` describe the hourly limit. \`RateLimit-Policy\` and \`RateLimit\` describe both windows by name. A 429 has
\`Retry-After\`, the longer of both waits. Requests without a valid key, and requests for these pages, count against the
limit of the client's address.

A body may be up to 1 MiB, or 16 MiB on the graph. An unknown path answers 404, and a wrong method 405 with \`Allow\`, both
in the error envelope.
`.trim();

/**
 * The descriptions of the error codes, which explain when the API returns each error code
 * (docs/contract.md#error-codes).
 */
export const errorDescriptions: Record<ErrorCode, string> = {
  UNAUTHORIZED: 'The key is missing or invalid.',
  FORBIDDEN: 'The key lacks the permission, or the company is outside its scope.',
  NOT_FOUND: "The location or whitelist entry does not exist, or is outside the key's scope.",
  VALIDATION_ERROR: 'The request breaks a rule.',
  CONFLICT: 'Another location of the company already has the slug, or the version has changed.',
  CONFLICT_ERROR: 'Another company has the slug.',
  DUPLICATE_VEHICLE: 'The whitelist already has the plate.',
  RATE_LIMIT_EXCEEDED: "The rate limit of the key or of the client's address is exceeded.",
  INTERNAL_ERROR:
    'The service failed. Give `requestId` to the operator, who can use it to find the request in the log.',
};

/** The groups of endpoints, in the order in which the API reference shows them. */
export const tags: Record<Route['tag'], string> = {
  Service: 'The state of the service.',
  Companies: 'The owners of locations.',
  Locations: 'Parking locations, and their status.',
  Whitelist: 'The vehicles that may enter a location.',
  Residents:
    'The former paths of the whitelist, deprecated since version 1.3.0. Version 2.0.0 removes these paths.',
};

/** Examples of valid request bodies for the input types of the GraphQL schema. */
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
