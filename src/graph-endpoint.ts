import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLErrorExtensions,
  type GraphQLSchema,
  parse,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { createYoga, type Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { Context } from './context.ts';
import { maskError } from './error-masking.ts';
import { errorStatus } from './errors.ts';
import { graphiqlPage } from './graphiql.ts';
import { authorizeOperation, explainVariables, type OperationPlan, planOperation } from './operation.ts';
import { operationLimits, requireAffordable, validateDocument } from './operation-limits.ts';

/** The context of a GraphQL request, with what the guard lends to it. */
export interface GraphRequestContext extends Context {
  /** Charges further points for what the request does; throws `RATE_LIMIT_EXCEEDED`. */
  charge(points: number): Promise<void>;
  /** Tells the log and the usage record what runs. */
  operationIs(name: string): void;
}

/** The graph over HTTP. */
export interface GraphEndpoint {
  /** Answers a request that the guard let pass. */
  handle(request: Request, context: GraphRequestContext): Promise<Response>;
  /** The page at `GET /graphql`. */
  page(): string;
}

/** Compiling costs milliseconds: only for documents that come again. */
const compiledAfter = 3;
const mostKeptDocuments = 500;

type Compilation = CompiledQuery | ExecutionResult;

/** A document that was seen: what its operations need, and how often it came. */
interface KnownDocument {
  plans: Map<string, OperationPlan>;
  uses: number;
  compiled: Map<string, Compilation>;
}

/** Serves a schema over HTTP (GraphQL over HTTP), within the limits of an operation. */
export function createGraphEndpoint({ schema }: { schema: GraphQLSchema }): GraphEndpoint {
  const known = new LRUCache<DocumentNode, KnownDocument>({ max: mostKeptDocuments });

  function lookUp(document: DocumentNode): KnownDocument {
    const found = known.get(document) ?? { plans: new Map(), uses: 0, compiled: new Map() };
    found.uses += 1;
    known.set(document, found);
    return found;
  }

  function planOf(
    document: DocumentNode,
    { plans }: KnownDocument,
    operationName: string | null | undefined,
  ) {
    const name = operationName ?? '';
    const plan = plans.get(name) ?? planOperation(schema, document, operationName);
    plans.set(name, plan);
    return plan;
  }

  /** Everything that is asked before an operation runs. */
  async function admit(
    plan: OperationPlan,
    variables: Record<string, unknown>,
    context: GraphRequestContext,
  ): Promise<void> {
    const { operation, rootFields } = plan;
    context.operationIs(`${operation.operation} ${[...new Set(rootFields)].join(',')}`.slice(0, 200));
    authorizeOperation(plan, context.key);
    try {
      requireAffordable(schema, plan, variables, context);
    } catch (error) {
      throw (await explainVariables(schema, plan, variables)) ?? error;
    }
    if (operation.operation === 'mutation' && rootFields.length > 1)
      await context.charge(rootFields.length - 1);
  }

  const limits: Plugin<GraphRequestContext> = {
    onParse({ setParseFn }) {
      setParseFn((source: string) => parse(source, { maxTokens: operationLimits.tokens }));
    },
    onValidate({ setValidationFn }) {
      setValidationFn(validateDocument as typeof setValidationFn extends (fn: infer Fn) => void ? Fn : never);
    },
    async onExecute({ args, setExecuteFn, setResultAndStopExecution }) {
      const { document, operationName, variableValues, contextValue } = args;
      const found = lookUp(document);
      try {
        const plan = planOf(document, found, operationName);
        await admit(plan, variableValues ?? {}, contextValue);
        if (found.uses < compiledAfter) return;
        const name = operationName ?? '';
        const compiled: Compilation = found.compiled.get(name) ?? compileQuery(schema, plan.document);
        found.compiled.set(name, compiled);
        if (isCompiledQuery(compiled))
          setExecuteFn(() => compiled.query({}, contextValue, variableValues ?? {}));
      } catch (error) {
        setResultAndStopExecution({ errors: [asGraphQLError(error)] });
      }
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const { document, operationName, variableValues, contextValue } = args;
      try {
        await admit(planOf(document, lookUp(document), operationName), variableValues ?? {}, contextValue);
      } catch (error) {
        setResultAndStopExecution({ errors: [asGraphQLError(error)] });
      }
    },
    onResultProcess({ result, setResult, serverContext }) {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
      const context = serverContext as unknown as GraphRequestContext;
      const errors = result.errors.map((error) => maskRequestError(error, context));
      const { data } = result as ExecutionResult;
      setResult(data === undefined ? { errors } : { errors, data });
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
    cors: false,
    logging: false,
    maskedErrors: false,
  });

  const page = graphiqlPage();
  return {
    async handle(request, context) {
      const refusal = refusalOf(request);
      if (refusal) {
        const { status, message, headers } = refusal;
        const error = new GraphQLError(message, { extensions: { code: 'VALIDATION_ERROR' } });
        return Response.json({ errors: [error] }, { status, ...(headers && { headers }) });
      }
      return yoga.fetch(request, context) as Promise<Response>;
    },
    page: () => page,
  };
}

const asGraphQLError = (error: unknown) =>
  error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error });

/** Masks an error and keeps the HTTP status that goes with it. */
function maskRequestError(error: GraphQLError, context: Context): GraphQLError {
  const masked = maskError(error, context);
  const refused = masked.extensions.code === 'RATE_LIMIT_EXCEEDED';
  const http = httpOf(error) ?? (refused ? { status: errorStatus.RATE_LIMIT_EXCEEDED } : undefined);
  if (http) masked.extensions.http = http;
  return masked;
}

/** What Yoga wants the response to be; a request that is no GraphQL at all is a 400 whatever it accepts. */
function httpOf(error: GraphQLError): GraphQLErrorExtensions['http'] {
  const { http } = error.extensions as GraphQLErrorExtensions;
  return http && !error.locations ? { ...http, spec: false } : http;
}

const isJson = (contentType: string | null) => /^application\/json\s*(;|$)/i.test(contentType ?? '');

/**
 * Why a request is not looked at: what changes something comes as JSON, which no link and no form of
 * another site can send.
 */
function refusalOf(
  request: Request,
): { status: number; message: string; headers?: Record<string, string> } | undefined {
  if (request.method === 'GET') return undefined; // Yoga runs queries of a GET and refuses its mutations
  if (request.method !== 'POST') {
    return {
      status: 405,
      message: `Method ${request.method} is not allowed here`,
      headers: { Allow: 'GET, POST' },
    };
  }
  if (!isJson(request.headers.get('content-type'))) {
    return { status: 415, message: 'Content-Type must be application/json' };
  }
  return undefined;
}
