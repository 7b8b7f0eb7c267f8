import { GraphQLError, type GraphQLErrorOptions } from 'graphql';

/**
 * The error table: every code of the specification ("Errors", "Codes") with its HTTP status. Both
 * surfaces carry the code; REST and authentication failures also take the status from here.
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

/** Every code, in the order of the specification. */
export const errorCodes = Object.keys(errorStatus) as ErrorCode[];

/** One fault of an input: which field, and what is wrong with it. */
export interface FieldFault {
  field: string;
  message: string;
}

/** What a client needs to mend its request: the offending field and value, or the plate that exists. */
export type ErrorDetails = Record<string, unknown> & {
  field?: string;
  value?: unknown;
  errors?: FieldFault[];
};

/** Where an error occurred: its path in the answer, or its position in a document that did not run. */
type ErrorPlace = Pick<GraphQLErrorOptions, 'nodes' | 'source' | 'positions' | 'path'>;

/**
 * An error that is meant for the client: this class is the mark. Every other error is unexpected, and shown
 * as `INTERNAL_ERROR` (masking.ts). It knows its code and no transport: GraphQL shows `code` and `details` in
 * `extensions`, REST in its envelope.
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
      // graphql-jit does not keep the nodes of a field: with the path alone, both executors say the same.
      ...(path ? { path } : { nodes, source, positions }),
      extensions: { code, ...(details && { details }) },
    });
    this.name = 'ServiceError';
    this.code = code;
    this.details = details;
  }
}

// What a flood of bad requests gets is made once: an error costs more than the rest of such an answer.

/** 401 for a request without a key (specification, "Authentication", 4). */
export const keyRequired = new ServiceError('UNAUTHORIZED', 'API key is required');

/** 401 for every key that does not open this service, whatever the reason ("Authentication", 5). */
export const keyInvalid = new ServiceError('UNAUTHORIZED', 'Invalid or missing API key');

/** 429: more requests than the key, or the address, may make. */
export const rateLimitExceeded = new ServiceError(
  'RATE_LIMIT_EXCEEDED',
  'Too many requests, please try again later',
);

/** 404 for a location that is unknown or outside the scope of the key: the same in every byte. */
export const locationNotFound = (locationId: string) =>
  new ServiceError('NOT_FOUND', 'Location not found or not accessible', {
    field: 'locationId',
    value: shown(locationId),
  });

/** 404 for a whitelist entry that its location does not have. */
export const whitelistEntryNotFound = (whitelistId: string) =>
  new ServiceError('NOT_FOUND', 'Whitelist entry not found', {
    field: 'whitelistId',
    value: shown(whitelistId),
  });

/** 404 for a reference that has no quota in its location. */
export const quotaNotFound = (referenceId: string) =>
  new ServiceError('NOT_FOUND', 'Quota not found', { field: 'referenceId', value: shown(referenceId) });

/** The field that a conflict of versions names. */
export const expectedVersionField = 'expectedVersion';

/** A change of something that has another version than the client has seen. */
export const versionConflict = (version: number) =>
  new ServiceError('CONFLICT', `Changed since: the version is now ${version}`, {
    field: expectedVersionField,
    value: version,
  });

/** 403 for a company that the key is not tied to, or that does not exist. */
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

/** 400 for values that do not fit into one answer together. */
export const valuesTooLarge = (field: string) =>
  new ServiceError(
    'VALIDATION_ERROR',
    `Values of ${field} are too large for one answer, ask for smaller pages`,
  );

const maxShownCharacters = 200;
const tooLong = new Error('The JSON is too long');

/** Whether the JSON of a value is short enough to be shown. A value of megabytes is not written for that. */
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
 * A value as `details.value` shows it: as sent, `null` when missing, long strings cut at 200 characters.
 *
 * @returns undefined for an object or array of more than 200 characters of JSON, so that it is left out
 */
export function shown(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'object' && !isShortJson(value)) return undefined;
  if (typeof value === 'string') return value.slice(0, maxShownCharacters).toWellFormed();
  return value;
}
