import { GraphQLError, type GraphQLErrorOptions } from 'graphql';

/**
 * The error table: every code of the contract (docs/contract.md#error-codes) with its HTTP status. Both surfaces return
 * the code. REST and authentication failures also take the status from here.
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

/** Every code, in the order of docs/contract.md#error-codes. */
export const errorCodes = Object.keys(errorStatus) as ErrorCode[];

/** One invalid field of an input, with a message. */
export interface FieldFault {
  field: string;
  message: string;
}

/** Details that help a client to correct its request: the invalid field and value, or the existing plate. */
export type ErrorDetails = Record<string, unknown> & {
  field?: string;
  value?: unknown;
  errors?: FieldFault[];
};

/** The place of an error: its path in the response, or its position in a document that was not executed. */
type ErrorPlace = Pick<GraphQLErrorOptions, 'nodes' | 'source' | 'positions' | 'path'>;

/**
 * An error whose message the client may see. Every other error is unexpected and shown as `INTERNAL_ERROR`
 * (masking.ts). It has a code and does not depend on a transport: GraphQL shows `code` and `details` in `extensions`,
 * REST in its envelope.
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
      // graphql-jit does not keep the nodes of a field. With only the path, both executors report the same.
      ...(path ? { path } : { nodes, source, positions }),
      extensions: { code, ...(details && { details }) },
    });
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }
}

// Errors of a flood of invalid requests are created once, because creating an error costs more than the rest of the
// response.

/** 401 for a request without a key (docs/contract.md#authentication). */
export const keyRequired = new ServiceError('UNAUTHORIZED', 'API key is required');

/** 401 for every invalid key, with the same message for every reason ("Authentication", 5). */
export const keyInvalid = new ServiceError('UNAUTHORIZED', 'Invalid or missing API key');

/** 429: the rate limit of the key or of the client's address is exceeded. */
export const rateLimitExceeded = new ServiceError(
  'RATE_LIMIT_EXCEEDED',
  'Too many requests, please try again later',
);

/** 404 for a location that is unknown or outside the scope of the key. Both responses are equal, byte for byte. */
export const locationNotFound = (locationId: string) =>
  new ServiceError('NOT_FOUND', 'Location not found or not accessible', {
    field: 'locationId',
    value: shown(locationId),
  });

/** 404 for an entry that is not in the whitelist of the location. */
export const whitelistEntryNotFound = (whitelistId: string) =>
  new ServiceError('NOT_FOUND', 'Whitelist entry not found', {
    field: 'whitelistId',
    value: shown(whitelistId),
  });

/** 404 for a reference without a quota at the location. */
export const quotaNotFound = (referenceId: string) =>
  new ServiceError('NOT_FOUND', 'Quota not found', { field: 'referenceId', value: shown(referenceId) });

/** The field name in a version conflict. */
export const expectedVersionField = 'expectedVersion';

/** A change that expects another version than the current one. */
export const versionConflict = (version: number) =>
  new ServiceError('CONFLICT', `Changed since: the version is now ${version}`, {
    field: expectedVersionField,
    value: version,
  });

/** 403 for a company that is outside the key's scope or does not exist. */
export const companyForbidden = (companyId: string | undefined) =>
  new ServiceError('FORBIDDEN', 'API key has no access to this company', {
    field: 'companyId',
    value: shown(companyId),
  });

/** 400 for one field. */
export const invalidField = (field: string, message: string, value: unknown) =>
  new ServiceError('VALIDATION_ERROR', message, {
    field,
    value: shown(value),
    errors: [{ field, message }],
  });

/** 400 for values that are too large for one response. */
export const valuesTooLarge = (field: string) =>
  new ServiceError(
    'VALIDATION_ERROR',
    `Values of ${field} are too large for one answer, ask for smaller pages`,
  );

const maxShownCharacters = 200;
const tooLong = new Error('The JSON is too long');

/** Whether the JSON of a value is short enough to be shown. It stops early, so that megabytes are not serialized. */
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
 * A value for `details.value`: as sent, `null` when missing, long strings cut at 200 characters.
 *
 * @returns undefined for an object or array of more than 200 characters of JSON, so that it is omitted
 */
export function shown(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'object' && !isShortJson(value)) return undefined;
  if (typeof value === 'string') return value.slice(0, maxShownCharacters).toWellFormed();
  return value;
}
