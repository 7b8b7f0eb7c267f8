import { type ErrorCode, errorCodes, errorStatus } from '../src/errors/error-table.ts';
import { type JsonSchema, objectSchema, reference } from './json-schema.ts';
import { errorDescriptions } from './openapi-text.ts';

/** The content of a body. */
export const json = (content: JsonSchema) => ({ 'application/json': content });

/** A response for each code of the error table, to be referred to by it. */
export const sharedErrorResponses = () =>
  Object.fromEntries(errorCodes.map((code) => [code, errorResponse([code])]));

/** By status: most have one code, whose response is shared. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, JsonSchema> {
  const statuses = new Set(codes.map((code) => errorStatus[code]));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const [first, ...others] = codes.filter((code) => errorStatus[code] === status);
      return [
        status,
        others.length === 0 ? reference('responses', first!) : errorResponse([first!, ...others]),
      ];
    }),
  );
}

/** The envelope of an error with one of these codes, which have one status. */
export function errorResponse(codes: readonly ErrorCode[]): JsonSchema {
  const error = objectSchema(
    {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'What went wrong, for people.' },
      details: reference('schemas', 'ErrorDetails'),
      requestId: {
        type: 'string',
        description:
          'Names the request in the log, as the header X-Request-Id does; missing when the request could not be read.',
      },
    },
    { optional: ['details', 'requestId'] },
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDescriptions[code]}`).join('\n'),
    headers: headerReferences({
      ...everyHeaders,
      ...(codes.includes('RATE_LIMIT_EXCEEDED') && retryHeaders),
    }),
    content: json({ schema: objectSchema({ success: { type: 'boolean', const: false }, error }) }),
  };
}

/** What an error may tell beside its code (specification, "Error body"). */
export const errorDetails: JsonSchema = {
  ...objectSchema(
    {
      field: { type: 'string', description: 'The offending field, the first of several.' },
      value: { description: 'Its value as sent, null when missing; long strings are cut at 200 characters.' },
      errors: {
        type: 'array',
        description: 'Every fault.',
        items: objectSchema({ field: { type: 'string' }, message: { type: 'string' } }),
      },
      plateType: { type: 'string', description: 'Of the plate that exists, for DUPLICATE_VEHICLE.' },
      plateCode: { type: 'string', description: 'Of the plate that exists.' },
      plateNumber: { type: 'string', description: 'Of the plate that exists.' },
    },
    { description: 'What is needed to mend the request.' },
  ),
  required: [],
};

const header = (type: 'integer' | 'string', description: string): JsonSchema => ({
  description,
  schema: { type },
});

/** The headers of every response (specification, "Limits"). */
export const everyHeaders = {
  'X-RateLimit-Limit': header('integer', 'How many requests the key may make in an hour.'),
  'X-RateLimit-Remaining': header('integer', 'How many of them are left in the rolling hour; 0 on a 429.'),
  'X-RateLimit-Reset': header(
    'integer',
    'When the oldest counted request leaves the hour, as a Unix timestamp in seconds.',
  ),
  'RateLimit-Policy': header(
    'string',
    'Both rolling windows: `q` requests in `w` seconds, such as `"hour";q=1000;w=3600, "burst";q=100;w=60` (IETF draft-ietf-httpapi-ratelimit-headers).',
  ),
  RateLimit: header(
    'string',
    'What each window still allows, `r`, and in how many seconds its oldest counted request leaves it, `t`, such as `"hour";r=942;t=3100, "burst";r=57;t=12`.',
  ),
  'X-Request-Id': header('string', 'Names the request in the log.'),
};

/** The headers of a 429. */
export const retryHeaders = {
  'Retry-After': header('integer', 'Whole seconds until a request would pass.'),
};

/** The headers of a whitelist. */
export const validatorHeaders = {
  ETag: header(
    'string',
    'Names the state of the whitelist, for `If-None-Match` (RFC 9110); left out when it would be longer than 1 KiB.',
  ),
};

/** The header of an answer that shows one entry or location. */
export const versionHeaders = {
  ETag: header('string', 'The version of what the answer shows, such as `"3"`, for `If-Match` (RFC 9110).'),
};

/** The headers of a deprecated path. */
export const deprecationHeaders = {
  Deprecation: header('string', 'When the path was deprecated: `@` and a Unix timestamp (RFC 9745).'),
  Sunset: header('string', 'When the path may be removed (RFC 8594).'),
  Link: header(
    'string',
    'The path to use instead, with `rel="successor-version"`, and what to read, with `rel="deprecation"` (RFC 8288, RFC 9745).',
  ),
};

/** The headers of a deprecated path that is switched off for a while, and before. */
export const brownoutHeaders = {
  Brownout: header(
    'string',
    'When the path is switched off for a while, now or later: a structured list of strings (RFC 9651), each a start and an end (ISO 8601), such as `"2027-03-01T14:00:00.000Z/2027-03-02T02:00:00.000Z"`. Left out when nothing is planned.',
  ),
};

/** Refers to headers that are components. */
export const headerReferences = (headers: Record<string, JsonSchema>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, reference('headers', name)]));
