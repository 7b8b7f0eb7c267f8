import { GraphQLError, type GraphQLErrorOptions } from 'graphql';
import { sentText } from './sent-instants.ts';

/**
 * The error table. The table contains every error code of the contract (docs/contract.md#error-codes) with its HTTP
 * status. A REST or GraphQL error response contains the error code. A REST response usually has the HTTP status of its
 * error code. A few HTTP statuses, such as 405, 412 and 413, have no error code of their own. A GraphQL response
 * usually does not have the HTTP status of its error code. The exceptions are some errors that make the whole request
 * fail, such as an invalid API key.
 */
export const errorStatus = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  VALIDATION_ERROR: 400,
  CONFLICT: 409,
  CONFLICT_ERROR: 409,
  DUPLICATE_VEHICLE: 409,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
} as const;

/** An error code from the error table. */
export type ErrorCode = keyof typeof errorStatus;

/** All error codes, in the order of docs/contract.md#error-codes. */
export const errorCodes = Object.keys(errorStatus) as ErrorCode[];

/** An invalid field of an input, with a message for the client. */
export interface FieldFault {
  field: string;
  message: string;
}

/**
 * The details with which a client can correct its request, such as the invalid field and its value, or the plate that
 * is already on the whitelist.
 */
export type ErrorDetails = Record<string, unknown> & {
  field?: string;
  value?: unknown;
  errors?: FieldFault[];
};

/** Where a GraphQL error occurred: the path of the failed field, or a position in a document that was not executed. */
type ErrorPlace = Pick<GraphQLErrorOptions, 'nodes' | 'source' | 'positions' | 'path'>;

/**
 * An error whose message the client may see. Any error that is not a ServiceError is unexpected, and the client sees
 * `INTERNAL_ERROR` instead (masking.ts). REST and GraphQL both use the class ServiceError for errors. The `code` and
 * the `details` of a ServiceError are in `extensions` of a GraphQL response, and in the body of a REST response
 * (docs/contract.md#response-envelope).
 *
 * A ServiceError has no stack trace, because the gateway never logs the stack trace of a ServiceError. Recording the
 * stack traces of 1,000 rejected rows would delay all other requests by about 100 ms.
 */
export class ServiceError extends GraphQLError {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details?: ErrorDetails,
    { nodes, source, positions, path }: ErrorPlace = {},
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, {
      // An error with the path of a GraphQL field contains no nodes of the GraphQL document, because graphql-jit cannot
      // provide these nodes. Without these nodes, the errors of graphql-js and graphql-jit have the same form.
      ...(path ? { path } : { nodes, source, positions }),
      extensions: { code, ...(details && { details }) },
    });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }
}

// Error objects such as `keyRequired` are created only once and used for many responses, because clients can send many
// invalid requests. For an invalid request, creating a new error object would take more time than all other work on the
// response together.

/** The error for a request without an API key, with status 401 (docs/contract-keys.md#authentication). */
export const keyRequired = new ServiceError('UNAUTHORIZED', 'API key is required');

/**
 * The error for an invalid API key, with status 401. Requests with an unknown, expired or revoked API key all get the
 * same error message (docs/contract-keys.md#authentication).
 */
export const keyInvalid = new ServiceError('UNAUTHORIZED', 'Invalid or missing API key');

/**
 * The error for a request that exceeds the rate limit of its API key or of the client's IP address, with status 429.
 */
export const rateLimitExceeded = new ServiceError(
  'RATE_LIMIT_EXCEEDED',
  'Too many requests, please try again later',
);

/**
 * The error for a location that is unknown or outside the scope of the API key, with status 404. The responses for an
 * unknown location and for a location outside the scope are identical.
 */
export const locationNotFound = (locationId: string) =>
  new ServiceError('NOT_FOUND', 'Location not found or not accessible', {
    field: 'locationId',
    value: shown(locationId),
  });

/** The error for a whitelist entry that does not exist at the location, with status 404. */
export const whitelistEntryNotFound = (whitelistId: string) =>
  new ServiceError('NOT_FOUND', 'Whitelist entry not found', {
    field: 'whitelistId',
    value: shown(whitelistId),
  });

/** The error with status 404 for a reference (such as an apartment) without a quota at the location. */
export const quotaNotFound = (referenceId: string) =>
  new ServiceError('NOT_FOUND', 'Quota not found', { field: 'referenceId', value: shown(referenceId) });

/**
 * The value of `details.field` in the error for a version conflict. A version conflict occurs when a client changes an
 * object that no longer has the version that the client expects.
 */
export const expectedVersionField = 'expectedVersion';

/** The error for a version conflict; its `details.value` is the current version of the object. */
export const versionConflict = (version: number) =>
  new ServiceError('CONFLICT', `Changed since: the version is now ${version}`, {
    field: expectedVersionField,
    value: version,
  });

/** The error with status 403 for an unknown company, or for a company outside the scope of the API key. */
export const companyForbidden = (companyId: string | undefined) =>
  new ServiceError('FORBIDDEN', 'API key has no access to this company', {
    field: 'companyId',
    value: shown(companyId),
  });

/** The error for one invalid field of a request, with status 400. */
export const invalidField = (field: string, message: string, value: unknown) =>
  new ServiceError('VALIDATION_ERROR', message, {
    field,
    value: shown(value),
    errors: [{ field, message }],
  });

/** The error (status 400) when the requested field values would make one response too large. */
export const valuesTooLarge = (field: string) =>
  new ServiceError(
    'VALIDATION_ERROR',
    `Values of ${field} are too large for one answer, ask for smaller pages`,
  );

const maxShownCharacters = 200;
const tooLong = new Error('The JSON is too long');

/**
 * Whether the JSON text of a value is short enough for an error message. `isShortJson` stops as soon as the JSON is too
 * long, and therefore never serializes several megabytes.
 */
function isShortJson(value: unknown): boolean {
  let characters = 0;
  try {
    const json = JSON.stringify(value, (_, part: unknown) => {
      characters += typeof part === 'string' ? part.length : 1;
      if (characters > maxShownCharacters) throw tooLong;
      return part;
    });
    return json.length <= maxShownCharacters;
  } catch (error) {
    if (error === tooLong) return false;
    throw error;
  }
}

/**
 * Returns a value as it appears in the field `details.value` of an error. For a missing value, the function returns
 * `null`; it shortens a long string to 200 characters.
 *
 * @returns `undefined` for an object or array with more than 200 characters of JSON; the error then has no
 *   `details.value`
 */
export function shown(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return shown(sentText(value) ?? value.toISOString());
  if (typeof value === 'object' && !isShortJson(value)) return undefined;
  if (typeof value === 'string') {
    // A string is shortened by characters, not by UTF-16 units, because a character can consist of two units.
    const characters = Array.from(value.slice(0, 2 * maxShownCharacters));
    return characters.slice(0, maxShownCharacters).join('').toWellFormed();
  }
  return value;
}
