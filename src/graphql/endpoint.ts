import type { GraphQLSchema } from 'graphql';
import { ServiceError } from '../errors/error-table.ts';
import { maskError } from '../errors/masking.ts';
import { isJson } from '../http/body.ts';
import { createBodyAnswerer } from '../http/large-bodies.ts';
import type { Answer } from '../http/response.ts';
import type { Metrics } from '../metrics.ts';
import { createClientDocuments } from './client-documents.ts';
import { type GraphExecutor, type GraphRequestContext, recordError } from './executor.ts';
import { errorsBody, graphFailure, graphRefusal, statusOf } from './failures.ts';
import type { Variables } from './operation-plan.ts';
import { createGraphYoga, type YogaContext } from './yoga.ts';

type Respond = (answer: Answer) => Response;

/** The graph over HTTP. */
export interface GraphEndpoint {
  /**
   * Answers a request that the guard let pass.
   *
   * @param respond makes an answer the response; Yoga makes its own
   */
  handle(request: Request, context: GraphRequestContext, respond: Respond): Promise<Response>;
}

/** The parameters of a request that have the right form (GraphQL over HTTP, "Request Parameters"). */
interface RequestParameters {
  query: string;
  variables?: Variables | null;
  operationName?: string | null;
}

/** How large the answer to a query may be: it is made in one piece, and waits for its reader in memory. */
const maxAnswerBytes = 8 * 1024 * 1024;

/**
 * Serves a schema over HTTP (GraphQL over HTTP). Yoga reads the request and writes the answer, the executor
 * does the rest. A document that ran before skips Yoga's HTTP layer, which costs more than most operations.
 */
export function createGraphEndpoint(
  schema: GraphQLSchema,
  executor: GraphExecutor,
  metrics: Pick<Metrics, 'countSubscription' | 'countError'>,
): GraphEndpoint {
  const answerBody = createBodyAnswerer();
  const documents = createClientDocuments(schema);
  const yoga = createGraphYoga(schema, documents, executor, metrics);

  /** Answers a document that was executed before; undefined for any other. */
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
    const length = Number(response.headers.get('content-length'));
    return isTooLarge(length, context) ? respond(tooLargeAnswer(context)) : response;
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
        return respond(graphFailure(maskError(error, context)));
      }
    },
  };
}

/** Whether an answer is too large to be sent: what a mutation did must be told, however long that takes. */
const isTooLarge = (length: number, { state }: GraphRequestContext) =>
  length > maxAnswerBytes && !state.operation.startsWith('mutation');

/** The answer in place of one that is too large. */
function tooLargeAnswer({ state }: GraphRequestContext): Answer {
  const error = new ServiceError(
    'VALIDATION_ERROR',
    `The answer is larger than ${maxAnswerBytes / 1024 / 1024} MiB, ask for smaller pages`,
  );
  recordError([error], state);
  return graphFailure(error);
}

/** Whether `application/json` will do. Yoga decides about the newer media type, event streams and quality values. */
const acceptsPlainJson = (accept: string | null) =>
  accept === null || accept === '*/*' || accept === 'application/json' || accept === 'application/json, */*';

/** Whether a body has the parameters of a request in the right form; what is wrong is for Yoga to say. */
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
 * Why a request is not looked at: what changes something comes as JSON, which no link and no form of
 * another site can send.
 */
function refusalOf(request: Request): Answer | undefined {
  if (request.method === 'GET') return undefined; // Yoga runs queries of a GET and refuses its mutations
  if (request.method !== 'POST') {
    const answer = graphRefusal(405, `Method ${request.method} is not allowed here`);
    return { ...answer, headers: { Allow: 'GET, POST' } };
  }
  if (!isJson(request.headers.get('content-type'))) {
    return graphRefusal(415, 'Content-Type must be application/json');
  }
  return undefined;
}
