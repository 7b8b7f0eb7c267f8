import type { GraphQLError, GraphQLErrorExtensions } from 'graphql';
import { errorStatus, ServiceError } from '../errors/error-table.ts';
import { type ErrorSource, maskError, toldError } from '../errors/masking.ts';
import type { Answer } from '../http/responses/response.ts';
import { type GraphRequestContext, recordError } from './executor.ts';

// This file creates the response bodies and HTTP statuses of failed GraphQL requests.

/**
 * Returns a function that creates the GraphQL response body for errors. The response body also contains the request id.
 */
export const errorsBody =
  (errors: readonly GraphQLError[], others: object = {}) =>
  (requestId: string) =>
    JSON.stringify({ ...others, errors: errors.map((error) => toldError(error, requestId)) });

/** Converts any error to a GraphQL response without `data` (GraphQL over HTTP). */
export const renderGraph = (error: unknown, source: ErrorSource): Answer =>
  graphFailure(maskError(error, source));

/** Creates the response to a GraphQL request that failed as a whole. */
export const graphFailure = (error: ServiceError): Answer => ({
  status: errorStatus[error.code],
  body: errorsBody([error]),
  errorCode: error.code,
});

/**
 * Creates the response to a GraphQL request that the gateway rejects before it executes the request. The caller passes
 * the HTTP status, such as 413, which can differ from the usual status of `VALIDATION_ERROR` (400).
 */
export const graphRefusal = (status: number, message: string): Answer => ({
  ...graphFailure(new ServiceError('VALIDATION_ERROR', message)),
  status,
});

/**
 * If an error makes a whole GraphQL request fail and determines the HTTP status of the response, the function returns
 * this status. For example, an exceeded rate limit has the status 429. Returns `undefined` for an error that does not
 * determine the HTTP status; the response then has the status 200 or 400.
 */
export function statusOf(error: ServiceError): number | undefined {
  const { code, path } = error;
  // A GraphQL error without a `path` concerns the whole request. A GraphQL error with a `path` concerns one field, and
  // the response still contains the results of other fields.
  const isOfWholeRequest =
    (!path && (code === 'RATE_LIMIT_EXCEEDED' || code === 'INTERNAL_ERROR')) || error === parametersNotJson;
  return isOfWholeRequest ? errorStatus[code] : undefined;
}

/**
 * Converts an error to the error that the client receives. Yoga uses the HTTP status that the converted error contains.
 */
export function withStatus(error: GraphQLError, context: GraphRequestContext): GraphQLError {
  const shown = refusalOfYoga(error) ?? maskError(error, context);
  if (!context.state.errorCode) recordError([shown], context.state);
  const status = statusOf(shown);
  // If Yoga has already set an HTTP status for an invalid request or document, the error keeps this status.
  const http = status ? { status } : shown.code === 'VALIDATION_ERROR' ? httpOf(error) : undefined;
  if (!http) return toldError(shown, context.requestId, shown.path ? undefined : statusWithoutData(shown));
  // If a request violates the GraphQL over HTTP specification, the HTTP status of the response does not depend on the
  // Accept header.
  const spec = shown.locations ? {} : { spec: false };
  return toldError(shown, context.requestId, { ...http, ...spec });
}

/**
 * The HTTP status of a response without `data` in the media type `application/graphql-response+json`. For any other
 * media type, Yoga ignores an HTTP status that has `spec: true`, and sends the status 200 (GraphQL over HTTP).
 */
const statusWithoutData = ({ code }: ServiceError) => ({ status: errorStatus[code], spec: true });

/**
 * If Yoga refused a request that violates the GraphQL over HTTP specification, converts the error of Yoga to a
 * `ServiceError`. Returns `undefined` for any other error.
 */
function refusalOfYoga(error: GraphQLError): ServiceError | undefined {
  if (error instanceof ServiceError || error.path) return undefined;
  // When a query parameter in the URL is not JSON, Yoga forwards the SyntaxError of the JSON parser.
  if (error.originalError instanceof SyntaxError) return parametersNotJson;
  const isRefusal = !error.originalError && (httpOf(error)?.status ?? 500) < 500;
  return isRefusal ? new ServiceError('VALIDATION_ERROR', error.message, undefined, error) : undefined;
}

const parametersNotJson = new ServiceError('VALIDATION_ERROR', 'Variables and extensions must be valid JSON');

// `httpOf` also accepts an error without the property `extensions`, because errors of graphql-jit can lack this
// property.
const httpOf = ({ extensions }: Partial<GraphQLError>) => extensions?.http as GraphQLErrorExtensions['http'];
