import { type ErrorCode, errorCodes, errorStatus } from '../src/errors/error-table.ts';
import { type JsonSchema, objectSchema, reference } from './json-schema.ts';
import { errorDescriptions } from './openapi-text.ts';

/** Returns the OpenAPI member `content` for a request body or response body with the given JSON Schema. */
export const json = (content: JsonSchema) => ({ 'application/json': content });

/**
 * Creates one OpenAPI response component for each error code. Several REST endpoints can refer to the same response
 * component.
 */
export const sharedErrorResponses = () =>
  Object.fromEntries(errorCodes.map((code) => [code, errorResponse([code])]));

/**
 * Returns the error responses of an endpoint by HTTP status. If an HTTP status of the endpoint has only one error code,
 * the function refers to the shared response component of this error code.
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

/**
 * Creates the OpenAPI description of an error response. All error codes in `codes` have the same HTTP status, and the
 * response has this status.
 */
export function errorResponse(codes: readonly ErrorCode[]): JsonSchema {
  const error = objectSchema(
    {
      code: { type: 'string', enum: codes },
      message: { type: 'string', description: 'A description of the error for human readers.' },
      details: reference('schemas', 'ErrorDetails'),
      requestId: {
        type: 'string',
        description: 'Identifier of the request in the log of the gateway, as in the header X-Request-Id.',
      },
    },
    { optional: ['details'] },
  );
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDescriptions[code]}`).join('\n'),
    headers: headerReferences({
      ...everyHeaders,
      ...(codes.includes('UNAUTHORIZED') && challengeHeaders),
      ...(codes.includes('RATE_LIMIT_EXCEEDED') && retryHeaders),
    }),
    content: json({ schema: objectSchema({ success: { type: 'boolean', const: false }, error }) }),
  };
}

/** The JSON Schema for the member `details` of an error response (docs/contract.md#error-body). */
export const errorDetails: JsonSchema = {
  ...objectSchema(
    {
      field: {
        type: 'string',
        description:
          'The name of the invalid field; if several fields are invalid, the name of the first invalid field.',
      },
      value: {
        description:
          'The invalid value as the client sent it; null when the value is missing. The gateway shortens long strings to 200 characters.',
      },
      errors: {
        type: 'array',
        description: 'All invalid fields.',
        items: objectSchema({ field: { type: 'string' }, message: { type: 'string' } }),
      },
      plateType: {
        type: 'string',
        description:
          'Plate type of the whitelist entry that already exists; only for the error DUPLICATE_VEHICLE.',
      },
      plateCode: {
        type: 'string',
        description:
          'Plate code of the whitelist entry that already exists; only for the error DUPLICATE_VEHICLE.',
      },
      plateNumber: {
        type: 'string',
        description:
          'Plate number of the whitelist entry that already exists; only for the error DUPLICATE_VEHICLE.',
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

/** The headers that all responses have (docs/contract-keys.md#rate-limit). */
export const everyHeaders = {
  'X-RateLimit-Limit': header('integer', 'The hourly limit of the key.'),
  'X-RateLimit-Remaining': header(
    'integer',
    'The remaining points of the hourly limit; 0 in a response with status 429.',
  ),
  'X-RateLimit-Reset': header(
    'integer',
    'The time when the oldest counted request becomes older than an hour, as a Unix timestamp in seconds.',
  ),
  'RateLimit-Policy': header(
    'string',
    'The two rate limits of the key: `q` points in any `w` seconds, such as `"hour";q=1000;w=3600, "burst";q=100;w=60` (IETF draft-ietf-httpapi-ratelimit-headers).',
  ),
  RateLimit: header(
    'string',
    'The state of the two rate limits: `r` is the number of remaining points, and `t` is the number of seconds until the oldest counted request no longer counts, such as `"hour";r=942;t=3100, "burst";r=57;t=12`.',
  ),
  'X-Request-Id': header('string', 'Identifier of the request in the log.'),
};

/** The header `WWW-Authenticate`, which only responses with status 401 have. */
export const challengeHeaders = {
  'WWW-Authenticate': header('string', 'The authentication scheme of the gateway (RFC 9110): `ApiKey`.'),
};

/** The header `Retry-After`, which only responses with status 429 (rate limit exceeded) have. */
export const retryHeaders = {
  'Retry-After': header('integer', 'The number of whole seconds until the gateway allows a request again.'),
};

/** The header `ETag` of a response that contains a whitelist. */
export const validatorHeaders = {
  ETag: header(
    'string',
    'The version of the whitelist, for `If-None-Match` (RFC 9110). The header is omitted when its value would be longer than 1 KiB.',
  ),
};

/** The header `ETag` of a response with a single whitelist entry or location. */
export const versionHeaders = {
  ETag: header('string', 'The version of the entry or location, such as `"3"`, for `If-Match` (RFC 9110).'),
};

/** The OpenAPI description of the response headers that only deprecated routes have. */
export const deprecationHeaders = {
  Deprecation: header(
    'string',
    'The time when the path was deprecated: `@` and a Unix timestamp (RFC 9745).',
  ),
  Sunset: header('string', 'The earliest time when the path may be removed (RFC 8594).'),
  Link: header(
    'string',
    'The path to use instead, with `rel="successor-version"`, and the page that explains the change, with `rel="deprecation"` (RFC 8288, RFC 9745).',
  ),
};

/** The response header `Brownout` announces the periods in which a deprecated route is switched off. */
export const brownoutHeaders = {
  Brownout: header(
    'string',
    'The periods in which the path is switched off: a structured list of strings (RFC 9651). Each string has a start and an end (ISO 8601), such as `"2027-03-01T14:00:00.000Z/2027-03-02T02:00:00.000Z"`. The header is omitted when no such period is planned.',
  ),
};

/** Returns references to the components of the OpenAPI document that describe the given headers. */
export const headerReferences = (headers: Record<string, JsonSchema>) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, reference('headers', name)]));
