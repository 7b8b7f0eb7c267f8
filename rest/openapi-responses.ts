import { type ErrorCode, errorStatus } from '../src/errors.ts';
import { type JsonSchema, objectSchema, reference } from './json-schema.ts';
import { errorDescriptions, isErrorCode } from './openapi-text.ts';

/** The content of a body. */
export const json = (content: JsonSchema) => ({ 'application/json': content });

/** A response for each code of the error table, to be referred to by it. */
export const sharedErrorResponses = () =>
  Object.fromEntries(
    Object.keys(errorStatus)
      .filter(isErrorCode)
      .map((code) => [code, errorResponse([code])]),
  );

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
function errorResponse(codes: readonly ErrorCode[]): JsonSchema {
  const error = objectSchema(
    {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'What went wrong, for people.' },
      details: reference('schemas', 'ErrorDetails'),
      requestId: { type: 'string', description: 'Names the request in the log; only for INTERNAL_ERROR.' },
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
  'X-Request-Id': header('string', 'Names the request in the log.'),
};

/** The headers of a 429. */
export const retryHeaders = {
  'Retry-After': header('integer', 'Whole seconds until a request would pass.'),
};

/** The headers of a deprecated path. */
export const deprecationHeaders = {
  Deprecation: header('string', 'When the path was deprecated: `@` and a Unix timestamp (RFC 9745).'),
  Sunset: header('string', 'When the path may be removed (RFC 8594).'),
  Link: header('string', 'The path to use instead, with `rel="successor-version"` (RFC 8288).'),
};

/** Refers to headers that are components. */
export const headerReferences = (headers: Record<string, JsonSchema>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, reference('headers', name)]));
