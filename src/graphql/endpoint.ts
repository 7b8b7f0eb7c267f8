import type { GraphQLSchema } from 'graphql';
import { ServiceError } from '../errors/error-table.ts';
import { isJson } from '../http/bodies/body.ts';
import { createBodyAnswerer } from '../http/bodies/large-bodies.ts';
import { type Answer, isEventStream } from '../http/responses/response.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createClientDocuments } from './client-documents.ts';
import { type GraphExecutor, type GraphRequestContext, recordError } from './executor.ts';
import { errorsBody, graphFailure, graphRefusal, renderGraph, statusOf } from './failures.ts';
import type { Variables } from './operation-plan.ts';
import { createGraphYoga, type YogaContext } from './yoga.ts';

type Respond = (answer: Answer) => Response;

/** Answers GraphQL requests over HTTP. */
export interface GraphEndpoint {
  /**
   * Answers a request that the guard has admitted.
   *
   * @param respond creates the response from an answer. For an event stream, Yoga creates the response instead
   */
  handle(request: Request, context: GraphRequestContext, respond: Respond): Promise<Response>;
}

/** The parameters of a GraphQL request. Their form has been checked (GraphQL over HTTP, "Request Parameters"). */
interface RequestParameters {
  query: string;
  variables?: Variables | null;
  operationName?: string | null;
}

/**
 * The maximum size of the response to a query, in bytes. The whole response is created first, and stays in memory until
 * the client has read it.
 */
const maxAnswerBytes = 8 * 1024 * 1024;

/**
 * Serves a schema over HTTP (GraphQL over HTTP). Yoga reads the requests and writes the responses, and the executor
 * runs the operations. If the document of a request is known, the request does not go through Yoga, which would take
 * longer than most operations.
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
   * Answers a request whose document this process has executed before. The result is undefined for any other request.
   */
  async function answerKnown(body: object, context: GraphRequestContext): Promise<Answer | undefined> {
    const parameters = hasParameters(body) ? body : undefined;
    const document = parameters && executor.knownDocument(parameters.query);
    if (!document) return undefined;
    const { operationName, variables } = parameters;
    const result = await executor.execute({ document, operationName, variables }, context);
    const status = result.errors?.map(statusOf).find(Boolean) ?? 200;
    const { errors, ...others } = result;
    const text = JSON.stringify(others);
    if (isTooLarge(text.length, context)) return tooLargeAnswer(context);
    return { status, body: errors ? errorsBody(errors, others) : text };
  }

  async function answerByYoga(request: Request, context: YogaContext, respond: Respond): Promise<Response> {
    const response = await yoga.fetch(request, context);
    if (response.status === notAcceptable.status) return respond(notAcceptable);
    const { status, headers } = response;
    if (isEventStream(response)) {
      // The header is removed here, because the HTTP listener decides how long a connection stays open.
      headers.delete('Connection');
      return response;
    }
    const body = await response.text();
    if (isTooLarge(body.length, context)) return respond(tooLargeAnswer(context));
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
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return respond(graphRefusal(400, 'Request body must be a JSON object'));
    }
    const answer = acceptsPlainJson(headers.get('accept')) && (await answerKnown(body, context));
    if (answer) return respond(answer);
    await documents.prepare((body as { query?: unknown }).query, context.key.id);
    return answerByYoga(new Request(url, { method, headers }), { ...context, params: body }, respond);
  }

  return {
    async handle(request, context, respond) {
      const refusal = refusalOf(request);
      if (refusal) return respond(refusal);
      if (request.method !== 'POST') {
        await documents.prepare(new URL(request.url).searchParams.get('query'), context.key.id);
        return answerByYoga(request, context, respond);
      }
      try {
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
 * Whether a response is too large to be sent. The response to a mutation is always sent, because the changes of the
 * mutation are already committed.
 */
const isTooLarge = (length: number, { state }: GraphRequestContext) =>
  length > maxAnswerBytes && !state.operation.startsWith('mutation');

/** Creates the error that the client gets instead of a response that is too large. */
function tooLargeAnswer({ state }: GraphRequestContext): Answer {
  const error = new ServiceError(
    'VALIDATION_ERROR',
    `The answer is larger than ${maxAnswerBytes / 1024 / 1024} MiB, ask for smaller pages`,
  );
  recordError([error], state);
  return graphFailure(error);
}

/**
 * Whether the client accepts plain `application/json`. Yoga handles requests for the newer media type or for event
 * streams, and Accept headers with q-values.
 */
const acceptsPlainJson = (accept: string | null) =>
  accept === null || accept === '*/*' || accept === 'application/json' || accept === 'application/json, */*';

/**
 * Whether a request body has well-formed GraphQL parameters. If the result is false, Yoga handles the request and
 * reports what is wrong.
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
 * Returns the refusal of a request with a wrong method or media type. Mutations must be sent as JSON, because a link or
 * a form on another website cannot send JSON.
 */
function refusalOf(request: Request): Answer | undefined {
  if (request.method === 'GET') return undefined; // Yoga runs queries that are sent with GET, and rejects mutations
  if (request.method !== 'POST') {
    const answer = graphRefusal(405, `Method ${request.method} is not allowed here`);
    return { ...answer, headers: { Allow: 'GET, POST' } };
  }
  if (!isJson(request.headers.get('content-type'))) {
    return graphRefusal(415, 'Content-Type must be application/json');
  }
  return undefined;
}
