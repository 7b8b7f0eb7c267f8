import { PothosValidationError } from '@pothos/core';
import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Logger } from 'pino';
import { ServiceError } from './error-table.ts';

/** The source of an error: the id of the request, and the log for the error. */
export interface ErrorSource {
  requestId: string;
  log: Logger;
}

/**
 * Returns the error that a client may see. A `ServiceError` stays unchanged. For any other error, the client sees
 * `INTERNAL_ERROR`, and the original error is logged with the id of the request.
 */
export function maskError(error: unknown, { requestId, log }: ErrorSource): ServiceError {
  if (error instanceof ServiceError) return error;
  const place = error instanceof GraphQLError ? error : undefined;
  const cause = causeOf(error);
  if (cause instanceof ServiceError) return new ServiceError(cause.code, cause.message, cause.details, place);
  // Pothos throws this error when the arguments of a page are invalid. Examples are an invalid cursor, and `first`
  // together with `before`.
  if (cause instanceof PothosValidationError) {
    return new ServiceError('VALIDATION_ERROR', cause.message, undefined, place);
  }
  log.error({ requestId, err: cause }, 'unexpected error');
  return new ServiceError('INTERNAL_ERROR', 'Internal server error', undefined, place);
}

/** Returns the error that a resolver threw. graphql-js wraps it in another error, which has the location. */
function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? causeOf(error.originalError) : error;
}

/**
 * Returns an error in the form of GraphQL, with the id of its request. The log has the same id.
 *
 * @param http the status and headers for Yoga's response
 */
export function toldError(
  { message, nodes, source, positions, path, extensions }: GraphQLError,
  requestId: string | undefined,
  http?: GraphQLErrorExtensions['http'],
): GraphQLError {
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    extensions: { ...extensions, ...(requestId && { requestId }), ...(http && { http }) },
  });
}
