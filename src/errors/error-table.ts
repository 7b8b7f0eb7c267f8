import { GraphQLError, type GraphQLErrorOptions } from 'graphql';

/**
 * The error table. It has every error code of the contract (docs/contract.md#error-codes) with its HTTP status. REST
 * and GraphQL responses contain the code. Only REST responses and authentication failures also use the HTTP status.
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

/** A code of the error table. */
export type ErrorCode = keyof typeof errorStatus;

/** Every error code, in the order of docs/contract.md#error-codes. */
export const errorCodes = Object.keys(errorStatus) as ErrorCode[];

/** An invalid field of an input, with a message for the client. */
export interface FieldFault {
  field: string;
  message: string;
}

/**
 * Details in an error that help a client to correct its request, such as the invalid field and its value, or the
 * existing plate.
 */
export type ErrorDetails = Record<string, unknown> & {
  field?: string;
  value?: unknown;
  errors?: FieldFault[];
};

/**
 * The place of an error in a GraphQL response. The place is a path for a failed field, and a position in the document
 * for a document that was not executed.
 */
type ErrorPlace = Pick<GraphQLErrorOptions, 'nodes' | 'source' | 'positions' | 'path'>;

/**
 * An error whose message the client may see. Any other error is unexpected, and the client sees `INTERNAL_ERROR`
 * instead (masking.ts). A ServiceError is independent of the API. GraphQL shows `code` and `details` in `extensions`,
 * and REST shows them in its envelope.
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
    super(message, {
      // The GraphQL nodes are omitted when the path is known. graphql-jit does not keep the nodes of a field, and
      // errors of graphql-js and graphql-jit must be equal.
      ...(path ? { path } : { nodes, source, positions }),
      extensions: { code, ...(details && { details }) },
    });
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }
}

// The following errors are created only once and used for many responses. Clients can send floods of invalid requests,
// and creating an error takes longer than the rest of the response to an invalid request.

/** The error for a request without an API key, with status 401 (docs/contract.md#authentication). */
export const keyRequired = new ServiceError('UNAUTHORIZED', 'API key is required');

/**
 * The error for an invalid API key, with status 401. The message does not depend on the reason
 * (docs/contract.md#authentication).
 */
export const keyInvalid = new ServiceError('UNAUTHORIZED', 'Invalid or missing API key');

/** The error when the rate limit of the API key or of the client's IP address is exceeded, with status 429. */
export const rateLimitExceeded = new ServiceError(
  'RATE_LIMIT_EXCEEDED',
  'Too many requests, please try again later',
);

/**
 * The error for a location that is unknown or outside the scope of the API key, with status 404. Both cases get exactly
 * the same response.
 */
export const locationNotFound = (locationId: string) =>
  new ServiceError('NOT_FOUND', 'Location not found or not accessible', {
    field: 'locationId',
    value: shown(locationId),
  });

/** The error for an entry that is not in the whitelist of the location, with status 404. */
export const whitelistEntryNotFound = (whitelistId: string) =>
  new ServiceError('NOT_FOUND', 'Whitelist entry not found', {
    field: 'whitelistId',
    value: shown(whitelistId),
  });

/** The error for a reference that has no quota at the location, with status 404. */
export const quotaNotFound = (referenceId: string) =>
  new ServiceError('NOT_FOUND', 'Quota not found', { field: 'referenceId', value: shown(referenceId) });

/** The name of the field in the error for a change that expects another version. */
export const expectedVersionField = 'expectedVersion';

/** The error for a change of an object whose current version is not the version that the client expects. */
export const versionConflict = (version: number) =>
  new ServiceError('CONFLICT', `Changed since: the version is now ${version}`, {
    field: expectedVersionField,
    value: version,
  });

/** The error for a company that is outside the key's scope or does not exist, with status 403. */
export const companyForbidden = (companyId: string | undefined) =>
  new ServiceError('FORBIDDEN', 'API key has no access to this company', {
    field: 'companyId',
    value: shown(companyId),
  });

/** The error for a single invalid field, with status 400. */
export const invalidField = (field: string, message: string, value: unknown) =>
  new ServiceError('VALIDATION_ERROR', message, {
    field,
    value: shown(value),
    errors: [{ field, message }],
  });

/** The error for values that are together too large for one response, with status 400. */
export const valuesTooLarge = (field: string) =>
  new ServiceError(
    'VALIDATION_ERROR',
    `Values of ${field} are too large for one answer, ask for smaller pages`,
  );

const maxShownCharacters = 200;
const tooLong = new Error('The JSON is too long');

/**
 * Whether the JSON of a value is short enough for an error message. The function stops early for long values, so that
 * it never serializes megabytes.
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
 * Returns a value for `details.value` of an error. A missing value becomes `null`, and a long string is cut at 200
 * characters.
 *
 * @returns undefined for an object or array with more than 200 characters of JSON, so that the error omits the value
 */
export function shown(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'object' && !isShortJson(value)) return undefined;
  if (typeof value === 'string') return value.slice(0, maxShownCharacters).toWellFormed();
  return value;
}
