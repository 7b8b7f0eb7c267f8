import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLErrorExtensions,
  type GraphQLSchema,
} from 'graphql';
import { createYoga, isAsyncIterable, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Answer } from './answer.ts';
import type { Context } from './context.ts';
import { maskError } from './error-masking.ts';
import { errorStatus } from './errors.ts';
import { createGraphExecutor, type GraphRequestContext } from './graph-executor.ts';
import { createKeyBoundStreams } from './key-bound-stream.ts';
import { isJson } from './media-type.ts';
import { parseDocument, validateDocument } from './operation-limits.ts';

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

/** The parameters of a request, as far as they have the right form (GraphQL over HTTP, "Request Parameters"). */
interface RequestParameters {
  query: string;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
}

/** Documents that Yoga keeps parsed; those that run are remembered by the executor. */
const mostParsedDocuments = 100;

/**
 * Serves a schema over HTTP (GraphQL over HTTP), within the limits of an operation. Yoga answers; what is
 * asked again and again, as gates do, skips its HTTP layer, which costs more than the question.
 */
export function createGraphEndpoint({ schema }: { schema: GraphQLSchema }): GraphEndpoint {
  const executor = createGraphExecutor(schema);
  const streams = createKeyBoundStreams();

  const limits: Plugin<GraphRequestContext> = {
    onParse({ setParseFn }) {
      setParseFn(parseDocument);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateDocument);
    },
    onExecute({ args, setExecuteFn }) {
      const { document, operationName, variableValues, contextValue } = args;
      setExecuteFn(() => executor.execute(document, operationName, variableValues, contextValue));
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const { document, operationName, variableValues, contextValue } = args;
      const refusal =
        (await executor.refusal(document, operationName, variableValues, contextValue)) ??
        streams.refusal(contextValue.key);
      if (refusal) setResultAndStopExecution({ errors: [refusal] });
      return {
        onSubscribeResult({ result: results, setResult: setResults }) {
          if (isAsyncIterable(results)) setResults(streams.bind(results, contextValue));
          return { onNext: ({ result, setResult }) => setResult(maskResult(result, contextValue)) };
        },
      };
    },
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || !('errors' in result)) return;
      setResult(maskResult(result as ExecutionResult, serverContext as unknown as GraphRequestContext));
    },
  };

  const yoga = createYoga<GraphRequestContext>({
    schema,
    plugins: [limits],
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    parserAndValidationCache: {
      documentCache: new LRUCache<string, DocumentNode>({ max: mostParsedDocuments }),
      // To remember a refused text of megabytes costs more than to refuse it again.
      errorCache: { get: () => undefined, set: () => {} },
    },
    cors: false,
    logging: false,
    maskedErrors: false,
  });

  /** Answers a document that Yoga parsed and validated before; undefined for any other. */
  async function answerKnown(text: string, context: GraphRequestContext): Promise<Answer | undefined> {
    const parameters = parseParameters(text);
    const document = parameters && executor.knownDocument(parameters.query);
    if (!document) return undefined;
    const { operationName, variables } = parameters;
    const result = maskResult(await executor.execute(document, operationName, variables, context), context);
    const status = result.errors?.map((error) => httpOf(error)?.status).find(Boolean) ?? 200;
    const body = JSON.stringify(
      result.errors ? { ...result, errors: result.errors.map(withoutHttp) } : result,
    );
    return { status, body };
  }

  return {
    async handle(request, context, respond) {
      const refusal = refusalOf(request);
      if (refusal) return respond(refusal);
      if (request.method !== 'POST' || !acceptsPlainJson(request.headers.get('accept'))) {
        const response = await yoga.fetch(request, context);
        return response.status === notAcceptable.status ? respond(notAcceptable) : response;
      }
      const body = await request.text();
      const answer = await answerKnown(body, context);
      if (answer) return respond(answer);
      const { url, method, headers } = request;
      return yoga.fetch(new Request(url, { method, headers, body }), context);
    },
  };
}

/** Masks the errors of a result. */
function maskResult({ errors, data, extensions }: ExecutionResult, context: Context): ExecutionResult {
  return {
    ...(errors && { errors: errors.map((error) => maskRequestError(error, context)) }),
    ...(data !== undefined && { data }),
    ...(extensions && { extensions }),
  };
}

/** Masks an error and keeps the HTTP status that goes with it. */
function maskRequestError(error: GraphQLError, context: Context): GraphQLError {
  // Yoga passes on what the parser says of the parameters in an address.
  if (!error.path && error.originalError instanceof SyntaxError) return maskRequestError(notJson, context);
  const masked = maskError(error, context);
  const refused = masked.extensions.code === 'RATE_LIMIT_EXCEEDED';
  const http = httpOf(error) ?? (refused ? { status: errorStatus.RATE_LIMIT_EXCEEDED } : undefined);
  if (!http) return masked;
  const { message, nodes, source, positions, path, extensions } = masked;
  return new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extensions, http } });
}

const notJson = new GraphQLError('Variables and extensions must be valid JSON', {
  extensions: { http: { status: 400 } },
});

/** What the response should be; a request that is no GraphQL at all is a 400 whatever it accepts. */
function httpOf(error: GraphQLError): GraphQLErrorExtensions['http'] {
  // graphql-jit gives the errors of resolvers no extensions.
  const { http } = (error.extensions ?? {}) as GraphQLErrorExtensions;
  return http && !error.locations ? { ...http, spec: false } : http;
}

/** What a client sees of an error: how its response should be is not for the client. */
function withoutHttp(error: GraphQLError) {
  const { extensions: { http: _http, ...extensions } = {}, ...rest } = error.toJSON();
  return { ...rest, extensions };
}

/** Whether the old media type will do: the new one, event streams and quality values are Yoga's to weigh. */
const acceptsPlainJson = (accept: string | null) =>
  accept === null || accept === '*/*' || accept === 'application/json' || accept === 'application/json, */*';

/** The parameters of a body; undefined when their form is not right, which Yoga words. */
function parseParameters(text: string): RequestParameters | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null || !('query' in body) || typeof body.query !== 'string')
    return undefined;
  const { variables, operationName, ...others } = body as Record<string, unknown>;
  const isPlain = (value: unknown) => value === undefined || value === null;
  const hasForm =
    (isPlain(variables) || (typeof variables === 'object' && !Array.isArray(variables))) &&
    (isPlain(operationName) || typeof operationName === 'string') &&
    Object.keys(others).length === 1;
  return hasForm ? (body as RequestParameters) : undefined;
}

/** The answer to a request that is not looked at, where the status says more than the code. */
export function graphRefusal(status: number, message: string): Answer {
  const error = new GraphQLError(message, { extensions: { code: 'VALIDATION_ERROR' } });
  return { status, body: JSON.stringify({ errors: [error] }) };
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
