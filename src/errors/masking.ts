import { PothosValidationError } from '@pothos/core';
import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Logger } from 'pino';
import { ServiceError } from './error-table.ts';

/** The place of an error, for the log and for the client. */
export interface ErrorSource {
  requestId: string;
  log: Logger;
}

/**
 * The error that a client may see. A `ServiceError` is shown unchanged. Any other error becomes `INTERNAL_ERROR`,
 * and its cause is logged with the id of the request.
 */
export function maskError(error: unknown, { requestId, log }: ErrorSource): ServiceError {
  if (error instanceof ServiceError) return error;
  const place = error instanceof GraphQLError ? error : undefined;
  const cause = causeOf(error);
  if (cause instanceof ServiceError) return new ServiceError(cause.code, cause.message, cause.details, place);
  // Pothos throws these for the arguments of a page, such as an invalid cursor, or `first` with `before`.
  if (cause instanceof PothosValidationError) {
    return new ServiceError('VALIDATION_ERROR', cause.message, undefined, place);
  }
  log.error({ requestId, err: cause }, 'unexpected error');
  return new ServiceError('INTERNAL_ERROR', 'Internal server error', undefined, place);
}

/** The original error inside an error of graphql-js, which wraps a resolver's error to add its location. */
function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? causeOf(error.originalError) : error;
}

/**
 * An error in the form of the graph, with the id of its request, which also appears in the log.
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
