import { getOperationAST, type GraphQLSchema, OperationTypeNode } from 'graphql';
import { ServiceError } from '../errors/error-table.ts';
import { isJson } from '../http/bodies/body.ts';
import { createBodyAnswerer, largeBodyBytes } from '../http/bodies/large-bodies.ts';
import { type Answer, isEventStream } from '../http/responses/response.ts';
import type { Metrics } from '../observability/metrics.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { allows, resultTypes } from './accept.ts';
import { createClientDocuments } from './client-documents.ts';
import { type GraphExecutor, type GraphRequestContext, recordError } from './executor.ts';
import { errorsBody, graphFailure, graphRefusal, renderGraph, statusOf } from './failures.ts';
import type { Variables } from './operation-plan.ts';
import { createGraphYoga, type YogaContext } from './yoga.ts';

type Respond = (answer: Answer) => Response;

/** Answers GraphQL requests over HTTP. */
export interface GraphEndpoint {
  /**
   * Answers a GraphQL request that has passed the request guard.
   *
   * @param respond a function that creates the HTTP response. For an event stream, the library GraphQL Yoga creates the
   *   response, and `respond` is not called
   */
  handle(request: Request, context: GraphRequestContext, respond: Respond): Promise<Response>;
}

/**
 * The parameters of a GraphQL request, after the function `hasParameters` has checked their types. The specification
 * "GraphQL over HTTP" defines the parameters in the section "Request Parameters".
 */
interface RequestParameters {
  query: string;
  variables?: Variables | null;
  operationName?: string | null;
}

/**
 * The maximum size of the response to a query, in bytes. The size of the response is limited, because a whole GraphQL
 * response stays in memory until the client has read the response.
 */
const maxAnswerBytes = 8 * 1024 * 1024;

/**
 * Serves a GraphQL schema over HTTP, as the specification "GraphQL over HTTP" describes. The library GraphQL Yoga reads
 * the requests and writes the responses, and the executor runs the operations. The processing by GraphQL Yoga takes
 * longer than the execution of most operations. Requests with a document that this process has executed before
 * therefore bypass GraphQL Yoga.
 */
export function createGraphEndpoint(
  schema: GraphQLSchema,
  executor: GraphExecutor,
  metrics: Pick<Metrics, 'countSubscription' | 'countError'>,
): GraphEndpoint {
  const answerBody = createBodyAnswerer();
  const documents = createClientDocuments(schema);
  const yoga = createGraphYoga(schema, documents, executor, metrics);

  /**
   * Answers a request if this process has executed the GraphQL document before. Returns `undefined` in four cases: the
   * document is new to this process, the GraphQL parameters are malformed, the document does not contain the requested
   * operation, or the operation is a subscription.
   */
  async function answerKnown(body: object, context: GraphRequestContext): Promise<Answer | undefined> {
    const parameters = hasParameters(body) ? body : undefined;
    const document = parameters && executor.knownDocument(parameters.query);
    if (!document) return undefined;
    const { operationName, variables } = parameters;
    const operation = getOperationAST(document, operationName);
    if (!operation || operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;
    const result = await executor.execute({ document, operationName, variables }, context);
    const status = result.errors?.map(statusOf).find(Boolean) ?? 200;
    const { errors, ...others } = result;
    const text = JSON.stringify(others);
    if (isTooLarge(text, context)) return tooLargeAnswer(context);
    if (isLarge(text)) await yieldToEventLoop();
    return { status, body: errors ? errorsBody(errors, others) : text };
  }

  /** Parses and validates a GraphQL document, unless this process has already cached the document. */
  async function prepareDocument(text: unknown, context: GraphRequestContext): Promise<void> {
    await documents.prepare(text, context.key.id);
    // The gateway checks the API key again, because the key may have been revoked while the GraphQL document waited to
    // be parsed.
    await context.reauthenticate();
  }

  async function answerByYoga(request: Request, context: YogaContext, respond: Respond): Promise<Response> {
    const response = await yoga.fetch(request, context);
    const { status, headers } = response;
    // If a client accepts only event streams, Yoga also sends the result of a query as an event stream. The maximum
    // size of a response applies to a query result in an event stream, too.
    if (isEventStream(response) && isSubscription(context)) {
      // The gateway removes two headers that the library GraphQL Yoga sets on an event stream. The HTTP listener, and
      // not the header `Connection`, decides how long a connection stays open. The value `none` of the header
      // `Content-Encoding` is not a content coding (RFC 9110, section 8.4.1).
      headers.delete('Connection');
      headers.delete('Content-Encoding');
      headers.set('Cache-Control', 'no-store, no-transform'); // a proxy that compresses the stream would delay events
      return response;
    }
    const body = await response.text();
    if (isTooLarge(body, context)) return respond(tooLargeAnswer(context));
    if (isLarge(body)) await yieldToEventLoop();
    const contentType = headers.get('Content-Type');
    const allow = headers.get('Allow');
    return respond({
      status,
      body,
      headers: { ...(contentType && { 'Content-Type': contentType }), ...(allow && { Allow: allow }) },
    });
  }

  async function answerParsed(
    body: unknown,
    { url, method, headers }: Request,
    context: GraphRequestContext,
    respond: Respond,
  ): Promise<Response> {
    // The gateway checks the API key again, because the key may have been revoked while the request body arrived.
    await context.reauthenticate();
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return respond(graphRefusal(400, 'Request body must be a JSON object'));
    }
    const answer = acceptsPlainJson(headers.get('accept')) && (await answerKnown(body, context));
    if (answer) return respond(answer);
    await prepareDocument((body as { query?: unknown }).query, context);
    return answerByYoga(new Request(url, { method, headers }), { ...context, params: body }, respond);
  }

  return {
    async handle(request, context, respond) {
      const refusal = refusalOf(request);
      if (refusal) return respond(refusal);
      try {
        if (request.method !== 'POST') {
          await prepareDocument(new URL(request.url).searchParams.get('query'), context);
          return await answerByYoga(request, context, respond);
        }
        return await answerBody(request, context.key.id, (body) =>
          answerParsed(body, request, context, respond),
        );
      } catch (error) {
        return respond(renderGraph(error, context));
      }
    },
  };
}

/**
 * Whether a response is too large to be sent. The gateway sends even a large response to a mutation, because the
 * changes of the mutation are already committed.
 */
const isTooLarge = (text: string, { state }: GraphRequestContext) =>
  Buffer.byteLength(text) > maxAnswerBytes && !state.operation.startsWith('mutation');

const isSubscription = ({ state }: GraphRequestContext) => state.operation.startsWith('subscription');

/**
 * Whether the body of a GraphQL response is large. Creating a large response takes tens of milliseconds, and so does
 * writing it to the socket. Therefore, after the process has created a large response, it first yields to other
 * requests, and then writes the response.
 */
const isLarge = (body: string) => body.length > largeBodyBytes;

/** When a response is too large, creates the error response that the client gets instead. */
function tooLargeAnswer({ state }: GraphRequestContext): Answer {
  const error = new ServiceError(
    'VALIDATION_ERROR',
    `The answer is larger than ${maxAnswerBytes / 1024 / 1024} MiB, ask for smaller pages`,
  );
  recordError([error], state);
  return graphFailure(error);
}

/**
 * Whether a request has no Accept header, or one of three common Accept headers that allow `application/json`. GraphQL
 * Yoga handles the less common Accept headers, for example a header with q-values, or a header that allows only
 * `application/graphql-response+json`.
 */
const acceptsPlainJson = (accept: string | null) =>
  accept === null || accept === '*/*' || accept === 'application/json' || accept === 'application/json, */*';

/**
 * Whether a request body has well-formed GraphQL parameters. If the GraphQL parameters are malformed, the library
 * GraphQL Yoga answers the request and describes the mistake to the client.
 */
function hasParameters(body: object): body is RequestParameters {
  const { query, variables, operationName, ...others } = body as Record<string, unknown>;
  const isMissing = (value: unknown) => value === undefined || value === null;
  return (
    typeof query === 'string' &&
    (isMissing(variables) || (typeof variables === 'object' && !Array.isArray(variables))) &&
    (isMissing(operationName) || typeof operationName === 'string') &&
    Object.keys(others).length === 0
  );
}

const notAcceptable = graphRefusal(
  406,
  'Accept must allow application/json or application/graphql-response+json',
);

/**
 * Returns an error response in three cases: the request has a wrong method, a wrong media type, or an Accept header
 * that allows none of the media types in which the gateway can answer. Without this function, the library GraphQL Yoga
 * would check the Accept header, but only after it has run the operation. Mutations must be sent as JSON, because a
 * link or a form on another website cannot send JSON.
 */
function refusalOf(request: Request): Answer | undefined {
  if (request.method !== 'GET' && request.method !== 'POST') {
    const answer = graphRefusal(405, `Method ${request.method} is not allowed here`);
    return { ...answer, headers: { Allow: 'GET, POST' } };
  }
  const { headers } = request;
  // The library GraphQL Yoga runs queries in GET requests, and rejects mutations in GET requests.
  if (request.method === 'POST' && !isJson(headers.get('content-type'))) {
    return graphRefusal(415, 'Content-Type must be application/json');
  }
  const accept = headers.get('accept');
  return acceptsPlainJson(accept) || allows(accept, resultTypes) ? undefined : notAcceptable;
}
