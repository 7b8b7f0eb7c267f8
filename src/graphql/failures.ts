import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { errorStatus, ServiceError } from '../errors/error-table.ts';
import { maskError, toldError } from '../errors/masking.ts';
import type { Answer } from '../http/responses/response.ts';
import { type GraphRequestContext, recordError } from './executor.ts';

// The response bodies and HTTP statuses of failed GraphQL requests.

/** Returns a function that creates an error body for a request id. */
export const errorsBody =
  (errors: readonly GraphQLError[], others: object = {}) =>
  (requestId: string | undefined) =>
    JSON.stringify({ ...others, errors: errors.map((error) => toldError(error, requestId)) });

/** Creates the answer to a request that failed as a whole. */
export const graphFailure = (error: ServiceError): Answer => ({
  status: errorStatus[error.code],
  body: errorsBody([error]),
  errorCode: error.code,
});

/** Creates the answer to a request that is rejected before execution, with a more specific status than its code has. */
export function graphRefusal(status: number, message: string): Answer {
  const error = new GraphQLError(message, { extensions: { code: 'VALIDATION_ERROR' } });
  return { status, body: errorsBody([error]), errorCode: 'VALIDATION_ERROR' };
}

/** The HTTP status for an error where 200 or 400 would mislead the client; undefined for any other error. */
export function statusOf(error: ServiceError): number | undefined {
  const { code, path } = error;
  // An error with a path concerns one field. The response also contains the results of the other fields.
  const isOfWholeRequest =
    (!path && (code === 'RATE_LIMIT_EXCEEDED' || code === 'INTERNAL_ERROR')) || error === parametersNotJson;
  return isOfWholeRequest ? errorStatus[code] : undefined;
}

/** Converts an error to the form that the client may see, with the HTTP status for Yoga to use. */
export function withStatus(error: GraphQLError, context: GraphRequestContext): GraphQLError {
  const shown = refusalOfYoga(error) ?? maskError(error, context);
  if (!context.state.errorCode) recordError([shown], context.state);
  const status = statusOf(shown);
  // Yoga sets a status on the faults of a request and of its document.
  const http = status ? { status } : shown.code === 'VALIDATION_ERROR' ? httpOf(error) : undefined;
  if (!http) return toldError(shown, context.requestId);
  // An invalid GraphQL over HTTP request gets its own status, independent of the media type in its Accept header.
  const spec = shown.locations ? {} : { spec: false };
  return toldError(shown, context.requestId, { ...http, ...spec });
}

/** Converts Yoga's error for an invalid GraphQL over HTTP request. Returns undefined for any other error. */
function refusalOfYoga(error: GraphQLError): ServiceError | undefined {
  if (error instanceof ServiceError || error.path) return undefined;
  // Yoga passes on the JSON parser's error for the query parameters in the URL.
  if (error.originalError instanceof SyntaxError) return parametersNotJson;
  const isRefusal = !error.originalError && (httpOf(error)?.status ?? 500) < 500;
  return isRefusal ? new ServiceError('VALIDATION_ERROR', error.message, undefined, error) : undefined;
}

const parametersNotJson = new ServiceError('VALIDATION_ERROR', 'Variables and extensions must be valid JSON');

// Errors of graphql-jit may have no `extensions`.
const httpOf = ({ extensions }: Partial<GraphQLError>) => extensions?.http as GraphQLErrorExtensions['http'];
