import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { errorStatus, ServiceError } from '../errors/error-table.ts';
import { maskError, toldError } from '../errors/masking.ts';
import type { Answer } from '../http/response.ts';
import { type GraphRequestContext, recordError } from './executor.ts';

// What a client is told of a request over the graph that failed, and with which HTTP status.

/** The body of an answer with errors, made for the request that it answers. */
export const errorsBody =
  (errors: readonly GraphQLError[], others: object = {}) =>
  (requestId: string | undefined) =>
    JSON.stringify({ ...others, errors: errors.map((error) => toldError(error, requestId)) });

/** The answer to a request that failed as a whole. */
export const graphFailure = (error: ServiceError): Answer => ({
  status: errorStatus[error.code],
  body: errorsBody([error]),
  errorCode: error.code,
});

/** The answer to a request that is not looked at, where the status says more than the code. */
export function graphRefusal(status: number, message: string): Answer {
  const error = new GraphQLError(message, { extensions: { code: 'VALIDATION_ERROR' } });
  return { status, body: errorsBody([error]), errorCode: 'VALIDATION_ERROR' };
}

/** The HTTP status of an answer with this error, where 200 or 400 would mislead; undefined for any other. */
export function statusOf(error: ServiceError): number | undefined {
  const { code, path } = error;
  // With a path the error is of one field, and what the other fields did stands beside it.
  const isOfWholeRequest =
    (!path && (code === 'RATE_LIMIT_EXCEEDED' || code === 'INTERNAL_ERROR')) || error === parametersNotJson;
  return isOfWholeRequest ? errorStatus[code] : undefined;
}

/** The error that a client may see, with the HTTP status that Yoga should answer with. */
export function withStatus(error: GraphQLError, context: GraphRequestContext): GraphQLError {
  const shown = refusalOfYoga(error) ?? maskError(error, context);
  if (!context.state.errorCode) recordError([shown], context.state);
  const status = statusOf(shown);
  // Yoga gives the faults of a request and of its document a status.
  const http = status ? { status } : shown.code === 'VALIDATION_ERROR' ? httpOf(error) : undefined;
  if (!http) return toldError(shown, context.requestId);
  // A request that is no GraphQL is refused with a status of its own, whatever media type it accepts.
  const spec = shown.locations ? {} : { spec: false };
  return toldError(shown, context.requestId, { ...http, ...spec });
}

/** What Yoga says of a request that is no GraphQL over HTTP; undefined for any other error. */
function refusalOfYoga(error: GraphQLError): ServiceError | undefined {
  if (error instanceof ServiceError || error.path) return undefined;
  // Yoga passes on what the parser says of the parameters in an address.
  if (error.originalError instanceof SyntaxError) return parametersNotJson;
  const isRefusal = !error.originalError && (httpOf(error)?.status ?? 500) < 500;
  return isRefusal ? new ServiceError('VALIDATION_ERROR', error.message, undefined, error) : undefined;
}

const parametersNotJson = new ServiceError('VALIDATION_ERROR', 'Variables and extensions must be valid JSON');

// The errors of graphql-jit may have no extensions.
const httpOf = ({ extensions }: Partial<GraphQLError>) => extensions?.http as GraphQLErrorExtensions['http'];
