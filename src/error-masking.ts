import { PothosValidationError } from '@pothos/core';
import { GraphQLError } from 'graphql';
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
  const { nodes, source, positions, path, originalError } =
    error instanceof GraphQLError ? error : ({} as Partial<GraphQLError>);
  const cause = originalError ?? error;
  const position = { nodes, source, positions, path };
  if (cause instanceof ServiceError) {
    return new GraphQLError(cause.message, { ...position, extensions: cause.extensions });
  }
  if (cause instanceof PothosValidationError || (error instanceof GraphQLError && !path)) {
    const { message } = cause as Error;
    return new GraphQLError(message, { ...position, extensions: { code: 'VALIDATION_ERROR' } });
  }
  log.error({ requestId, err: cause }, 'unexpected error');
  return new GraphQLError('Internal server error', {
    ...position,
    extensions: { code: 'INTERNAL_ERROR', requestId },
  });
}
