import { type ErrorCode, errorCodes, errorStatus } from '../src/errors/error-table.ts';
import { type JsonSchema, objectSchema, reference } from './json-schema.ts';
import { errorDescriptions } from './openapi-text.ts';

/** Returns the `content` of a request or response body in OpenAPI, for the JSON Schema of the body. */
export const json = (content: JsonSchema) => ({ 'application/json': content });

/** Creates one error response for each error code. Several endpoints can use the same error response. */
export const sharedErrorResponses = () =>
  Object.fromEntries(errorCodes.map((code) => [code, errorResponse([code])]));

/**
 * Returns the error responses of an endpoint by HTTP status. If a status has only one error code, its response is a
 * reference to the shared response of this error code.
 */
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

/** Creates the OpenAPI description of an error response, for all error codes with the same HTTP status. */
export function errorResponse(codes: readonly ErrorCode[]): JsonSchema {
  const error = objectSchema(
    {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'What went wrong, for people.' },
      details: reference('schemas', 'ErrorDetails'),
      requestId: {
        type: 'string',
        description:
          'Identifier of the request in the log, as in the header X-Request-Id. Missing when the request could not be read.',
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

/** The JSON Schema for the member `details` of an error (docs/contract.md#error-body). */
export const errorDetails: JsonSchema = {
  ...objectSchema(
    {
      field: { type: 'string', description: 'The invalid field, or the first of several.' },
      value: {
        description: 'The invalid value as sent, or null when missing. Strings are cut at 200 characters.',
      },
      errors: {
        type: 'array',
        description: 'All invalid fields.',
        items: objectSchema({ field: { type: 'string' }, message: { type: 'string' } }),
      },
      plateType: { type: 'string', description: 'Plate type of the existing entry, for DUPLICATE_VEHICLE.' },
      plateCode: { type: 'string', description: 'Plate code of the existing entry, for DUPLICATE_VEHICLE.' },
      plateNumber: {
        type: 'string',
        description: 'Plate number of the existing entry, for DUPLICATE_VEHICLE.',
      },
    },
    { description: 'Details that help to correct the request.' },
  ),
  required: [],
};

const header = (type: 'integer' | 'string', description: string): JsonSchema => ({
  description,
  schema: { type },
});

/** The headers that all responses have (docs/contract.md#rate-limit). */
export const everyHeaders = {
  'X-RateLimit-Limit': header('integer', 'The hourly limit of the key.'),
  'X-RateLimit-Remaining': header(
    'integer',
    'How much of the hourly limit is left in the rolling hour; 0 on a 429.',
  ),
  'X-RateLimit-Reset': header(
    'integer',
    'When the oldest counted request leaves the rolling hour, as a Unix timestamp in seconds.',
  ),
  'RateLimit-Policy': header(
    'string',
    'Both rolling windows: a limit of `q` in `w` seconds, such as `"hour";q=1000;w=3600, "burst";q=100;w=60` (IETF draft-ietf-httpapi-ratelimit-headers).',
  ),
  RateLimit: header(
    'string',
    'The state of both windows: `r` is what is left, and `t` the seconds until the oldest counted request leaves the window, such as `"hour";r=942;t=3100, "burst";r=57;t=12`.',
  ),
  'X-Request-Id': header('string', 'Identifier of the request in the log.'),
};

/** The additional header of responses with status 429 (rate limit exceeded). */
export const retryHeaders = {
  'Retry-After': header('integer', 'Whole seconds until a request is allowed again.'),
};

/** The additional header of a response that contains a whitelist. */
export const validatorHeaders = {
  ETag: header(
    'string',
    'The version of the whitelist, for `If-None-Match` (RFC 9110). Omitted when it would be longer than 1 KiB.',
  ),
};

/** The additional header of a response with a single whitelist entry or location. */
export const versionHeaders = {
  ETag: header('string', 'The version of the entry or location, such as `"3"`, for `If-Match` (RFC 9110).'),
};

/** The response headers that only deprecated routes have, as OpenAPI. */
export const deprecationHeaders = {
  Deprecation: header('string', 'When the path was deprecated: `@` and a Unix timestamp (RFC 9745).'),
  Sunset: header('string', 'When the path may be removed (RFC 8594).'),
  Link: header(
    'string',
    'The path to use instead, with `rel="successor-version"`, and the page that explains the change, with `rel="deprecation"` (RFC 8288, RFC 9745).',
  ),
};

/** The response header `Brownout` announces the periods in which a deprecated route is switched off. */
export const brownoutHeaders = {
  Brownout: header(
    'string',
    'When the path is switched off: a structured list of strings (RFC 9651), each with a start and an end (ISO 8601), such as `"2027-03-01T14:00:00.000Z/2027-03-02T02:00:00.000Z"`. Omitted when no period is planned.',
  ),
};

/** Returns, for each header, a reference to the component of the OpenAPI document that describes the header. */
export const headerReferences = (headers: Record<string, JsonSchema>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, reference('headers', name)]));
