import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLErrorExtensions,
  type GraphQLSchema,
  specifiedRules,
} from 'graphql';
import { createYoga, type GraphQLParams, isAsyncIterable, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Answer } from '../http/response.ts';
import { isJson } from '../http/body.ts';
import { createBodyAnswerer } from '../http/large-bodies.ts';
import { maskError, toldError } from '../errors/masking.ts';
import { createFairTurns } from '../fair-turns.ts';
import { freeMoment } from '../free-moment.ts';
import type { Metrics } from '../metrics.ts';
import { errorStatus, ServiceError } from '../errors/error-table.ts';
import { parseDocument, validateDocument } from './document.ts';
import { type GraphExecutor, type GraphRequestContext, recordError } from './executor.ts';
import type { Variables } from './operation-plan.ts';
import { createKeyBoundStreams } from './subscriptions.ts';

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

/** The context of a request as Yoga gets it: with the parameters, if the body has been parsed. */
interface YogaContext extends GraphRequestContext {
  params?: GraphQLParams;
}

/** The parameters of a request that have the right form (GraphQL over HTTP, "Request Parameters"). */
interface RequestParameters {
  query: string;
  variables?: Variables | null;
  operationName?: string | null;
}

/** How large the answer to a query may be: it is made in one piece, and waits for its reader in memory. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** Documents that are kept parsed, with their faults; those that run are remembered by the executor. */
const maxParsedDocuments = 100;

/** New documents that a process parses and checks at once, one of each key: it is work of the processor alone. */
const maxNewDocumentsAtOnce = 1;

/**
 * Serves a schema over HTTP (GraphQL over HTTP). Yoga reads the request and writes the answer, the executor
 * does the rest. A document that ran before skips Yoga's HTTP layer, which costs more than most operations.
 */
export function createGraphEndpoint(
  schema: GraphQLSchema,
  executor: GraphExecutor,
  { countSubscription, countError }: Pick<Metrics, 'countSubscription' | 'countError'>,
): GraphEndpoint {
  const answerBody = createBodyAnswerer();
  const documents = new LRUCache<string, DocumentNode>({ max: maxParsedDocuments });
  const faultsOf = new WeakMap<DocumentNode, readonly ServiceError[]>();
  const documentTurns = createFairTurns(maxNewDocumentsAtOnce);
  const streams = createKeyBoundStreams(countSubscription);

  /** An error of an event of a stream, whose request was counted long before. */
  function eventError(error: GraphQLError, { requestId, log, state }: GraphRequestContext): GraphQLError {
    const shown = maskError(error, { requestId, log });
    const { operation } = state;
    const errorPath = shown.path?.join('.');
    log.info({ requestId, operation, errorCode: shown.code, errorPath }, 'a subscription told an error');
    countError({ surface: 'graphql', operation, errorCode: shown.code });
    return toldError(shown, requestId);
  }

  const limits: Plugin<YogaContext> = {
    onRequestParse({ serverContext, setRequestParser }) {
      const { params } = serverContext as unknown as YogaContext;
      if (params) setRequestParser(() => params);
    },
    onParse({ setParseFn }) {
      setParseFn(parseDocument);
    },
    onValidate({ setValidationFn }) {
      setValidationFn(
        (ofSchema: GraphQLSchema, document: DocumentNode, rules: typeof specifiedRules) =>
          faultsOf.get(document) ?? validateDocument(ofSchema, document, rules),
      );
    },
    onExecute({ args, setExecuteFn }) {
      setExecuteFn(() => executor.execute(requestOf(args), args.contextValue));
    },
    onSubscribe({ args, subscribeFn, setSubscribeFn }) {
      const { contextValue } = args;
      setSubscribeFn(async () => {
        const refusal = await executor.refusal(requestOf(args), contextValue);
        if (refusal) return { errors: [refusal] };
        let close = () => {};
        try {
          close = streams.open(contextValue.key);
          const results = await subscribeFn(args);
          if (isAsyncIterable(results)) {
            return streams.bind(results as AsyncIterableIterator<ExecutionResult>, contextValue, close);
          }
          close();
          return results;
        } catch (error) {
          close();
          return { errors: [maskError(error, contextValue)] };
        }
      });
      return {
        onSubscribeResult: () => ({
          onNext: ({ result, setResult }) =>
            setResult(withErrors(result, (error) => eventError(error, contextValue))),
        }),
      };
    },
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || !('errors' in result)) return;
      const context = serverContext as unknown as GraphRequestContext;
      setResult(withErrors(result, (error) => withStatus(error, context)));
    },
  };

  const yoga = createYoga<YogaContext>({
    schema,
    plugins: [limits],
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    parserAndValidationCache: {
      documentCache: documents,
      // To remember a refused text of megabytes costs more than to refuse it again.
      errorCache: { get: () => undefined, set: () => {} },
    },
    cors: false,
    logging: false,
    maskedErrors: false,
  });

  /**
   * Parses and checks a document in turn, before Yoga asks for that: it takes tens of milliseconds, and a key can send as
   * many new ones as it has requests. Yoga says what is wrong with those that cannot be parsed.
   */
  async function prepareDocument(text: unknown, keyId: string): Promise<void> {
    if (typeof text !== 'string' || documents.has(text)) return;
    await documentTurns.run(keyId, async () => {
      if (documents.has(text)) return;
      try {
        const document = parseDocument(text);
        await freeMoment();
        faultsOf.set(document, validateDocument(schema, document, specifiedRules));
        documents.set(text, document);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
      }
    });
  }

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
    if (mayBeLost(text.length, context)) return tooLargeAnswer(context);
    return { status, body: errors ? errorsBody(errors, others) : text };
  }

  async function answerByYoga(request: Request, context: YogaContext, respond: Respond): Promise<Response> {
    const response = await yoga.fetch(request, context);
    if (response.status === notAcceptable.status) return respond(notAcceptable);
    const isTooLarge = mayBeLost(Number(response.headers.get('content-length')), context);
    return isTooLarge ? respond(tooLargeAnswer(context)) : response;
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
    await prepareDocument((body as { query?: unknown }).query, context.key.id);
    return answerByYoga(new Request(url, { method, headers }), { ...context, params: body }, respond);
  }

  return {
    async handle(request, context, respond) {
      const refusal = refusalOf(request);
      if (refusal) return respond(refusal);
      if (request.method !== 'POST') {
        await prepareDocument(new URL(request.url).searchParams.get('query'), context.key.id);
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

/** Whether an answer is too large to be sent. What a mutation did must be told, however long that takes. */
const mayBeLost = (length: number, { state }: GraphRequestContext) =>
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

/** What Yoga is about to run, as the executor takes it. */
const requestOf = ({
  document,
  operationName,
  variableValues: variables,
}: {
  document: DocumentNode;
  operationName?: string | null;
  variableValues?: Variables | null;
}) => ({ document, operationName, variables });

/** A result with each of its errors replaced. */
const withErrors = <Result extends { errors?: readonly GraphQLError[] }>(
  result: Result,
  replace: (error: GraphQLError) => GraphQLError,
): Result => (result.errors ? { ...result, errors: result.errors.map(replace) } : result);

/** The HTTP status of an answer with this error, where 200 or 400 would mislead; undefined for any other. */
function statusOf(error: ServiceError): number | undefined {
  const { code, path } = error;
  // With a path the error is of one field, and what the other fields did stands beside it.
  const isOfWholeRequest =
    (!path && (code === 'RATE_LIMIT_EXCEEDED' || code === 'INTERNAL_ERROR')) || error === parametersNotJson;
  return isOfWholeRequest ? errorStatus[code] : undefined;
}

/** The error that a client may see, with the HTTP status that Yoga should answer with. */
function withStatus(error: GraphQLError, context: GraphRequestContext): GraphQLError {
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

/** Whether the old media type will do: the new one, event streams and quality values are Yoga's to weigh. */
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

/** The body of an answer with errors, made for the request that it answers. */
const errorsBody =
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
