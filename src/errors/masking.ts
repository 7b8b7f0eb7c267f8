import { PothosValidationError } from '@pothos/core';
import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Logger } from 'pino';
import { ServiceError } from './error-table.ts';

/** Where an error occurred, for the log and for the client who asks about it. */
export interface ErrorSource {
  requestId: string;
  log: Logger;
}

/**
 * The error that a client may see. Only what the service says on purpose passes; anything else is an
 * `INTERNAL_ERROR`, and its cause goes to the log under the id of the request.
 */
export function maskError(error: unknown, { requestId, log }: ErrorSource): ServiceError {
  if (error instanceof ServiceError) return error;
  const place = error instanceof GraphQLError ? error : undefined;
  const cause = causeOf(error);
  if (cause instanceof ServiceError) return new ServiceError(cause.code, cause.message, cause.details, place);
  // Pothos says so of a page's arguments: a cursor that is none, `first` beside `before`.
  if (cause instanceof PothosValidationError) {
    return new ServiceError('VALIDATION_ERROR', cause.message, undefined, place);
  }
  log.error({ requestId, err: cause }, 'unexpected error');
  return new ServiceError('INTERNAL_ERROR', 'Internal server error', undefined, place);
}

/** What an error of graphql-js was made of: it wraps what a resolver throws, to say where. */
function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError ? causeOf(error.originalError) : error;
}

/**
 * An error as the graph tells it: with the id of its request, which names it in the log.
 *
 * @param http what Yoga should answer with
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
