import { PothosValidationError } from '@pothos/core';
import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Logger } from 'pino';
import { ServiceError } from './error-table.ts';

/** The id of the request in which an error occurred, and the logger for the error. */
export interface ErrorSource {
  requestId: string;
  log: Logger;
}

/**
 * Returns the error that the gateway sends to the client when the given error occurs. A `ServiceError` stays unchanged.
 * For an unexpected error, the client gets `INTERNAL_ERROR`, and the gateway logs the original error with the id of the
 * request.
 */
export function maskError(error: unknown, { requestId, log }: ErrorSource): ServiceError {
  if (error instanceof ServiceError) return error;
  const place = error instanceof GraphQLError ? error : undefined;
  const cause = causeOf(error);
  if (cause instanceof ServiceError) return new ServiceError(cause.code, cause.message, cause.details, place);
  // Pothos throws a PothosValidationError for invalid page arguments, such as an invalid cursor, or the combination of
  // `first` and `before`.
  if (cause instanceof PothosValidationError) {
    return new ServiceError('VALIDATION_ERROR', cause.message, undefined, place);
  }
  log.error({ requestId, err: cause }, 'unexpected error');
  return new ServiceError('INTERNAL_ERROR', 'Internal server error', undefined, place);
}

/** Returns the error that a resolver threw. The library graphql-js has wrapped this error in a GraphQLError. */
function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? causeOf(error.originalError) : error;
}

/**
 * Returns a copy of a GraphQL error, with the request id added. The log entries of the request contain the same request
 * id as the error.
 *
 * @param http the HTTP status and the headers of the response that Yoga sends
 */
export function toldError(
  { message, nodes, source, positions, path, extensions }: GraphQLError,
  requestId: string,
  http?: GraphQLErrorExtensions['http'],
): GraphQLError {
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    extensions: { ...extensions, requestId, ...(http && { http }) },
  });
}
