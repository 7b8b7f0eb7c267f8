import { PothosValidationError } from '@pothos/core';
import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Logger } from 'pino';
import { ServiceError } from './errors.ts';

/** Where an error occurred, for the log and for the client who asks about it. */
export interface ErrorSource {
  requestId: string;
  log: Logger;
}

/**
 * The error that a client may see. What the service means for clients passes, a request that the graph
 * refuses is a `VALIDATION_ERROR`, and anything else is an `INTERNAL_ERROR` that shows only the request
 * id: its cause goes to the log.
 */
export function maskError(error: unknown, { requestId, log }: ErrorSource): GraphQLError {
  const origin: Partial<GraphQLError> = error instanceof GraphQLError ? error : {};
  const cause = origin.originalError ?? error;
  if (error instanceof ServiceError) return error;
  if (cause instanceof ServiceError) return maskedError(cause.message, origin, cause.extensions);
  if (cause instanceof PothosValidationError || (error instanceof GraphQLError && !origin.path)) {
    return maskedError((cause as Error).message, origin, { code: 'VALIDATION_ERROR' });
  }
  log.error({ requestId, err: cause }, 'unexpected error');
  return maskedError('Internal server error', origin, { code: 'INTERNAL_ERROR', requestId });
}

/** An error at the place of another: its path in the answer, or its position in a document that did not run. */
function maskedError(
  message: string,
  { nodes, source, positions, path }: Partial<GraphQLError>,
  extensions: GraphQLErrorExtensions,
): GraphQLError {
  // graphql-jit does not keep the nodes of a field: with the path, both executors say the same.
  return new GraphQLError(message, path ? { path, extensions } : { nodes, source, positions, extensions });
}
