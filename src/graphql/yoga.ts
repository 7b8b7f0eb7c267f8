import {
  type DocumentNode,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { createYoga, type GraphQLParams, isAsyncIterable, type Plugin } from 'graphql-yoga';
import { maskError, toldError } from '../errors/masking.ts';
import type { Metrics } from '../observability/metrics.ts';
import { allows, eventStreamType } from './accept.ts';
import type { ClientDocuments } from './client-documents.ts';
import { missingOperation, parseDocument } from './document.ts';
import type { GraphExecutor, GraphRequestContext } from './executor.ts';
import { withStatus } from './failures.ts';
import type { Variables } from './operation-plan.ts';
import { createKeyBoundStreams } from './subscriptions.ts';

/**
 * The context that GraphQL Yoga keeps for one GraphQL request. If the gateway parses the request body before it calls
 * Yoga, `params` contains the parsed GraphQL parameters.
 */
export interface YogaContext extends GraphRequestContext {
  params?: GraphQLParams;
}

/**
 * Creates the GraphQL Yoga server for a GraphQL schema. The library GraphQL Yoga reads the requests and writes the
 * responses, and the executor runs the operations.
 */
export function createGraphYoga(
  schema: GraphQLSchema,
  documents: ClientDocuments,
  executor: GraphExecutor,
  { countSubscription, countError }: Pick<Metrics, 'countSubscription' | 'countError'>,
) {
  const streams = createKeyBoundStreams(countSubscription);

  /**
   * Logs an error that a subscription sends to its client, and counts the error in the metrics. The gateway already
   * logged and counted the request for the subscription when the event stream began.
   */
  function eventError(error: GraphQLError, { requestId, log, state }: GraphRequestContext): GraphQLError {
    const shown = maskError(error, { requestId, log });
    const { operation } = state;
    const errorPath = shown.path?.join('.');
    log.info(
      { requestId, operation, errorCode: shown.code, errorPath },
      'a subscription sent an error to its client',
    );
    countError({ surface: 'graphql', operation, errorCode: shown.code });
    return toldError(shown, requestId);
  }

  const plugin: Plugin<YogaContext> = {
    onRequestParse({ serverContext, setRequestParser }) {
      const { params } = serverContext as unknown as YogaContext;
      if (params) setRequestParser(() => params);
    },
    onParse({ setParseFn }) {
      setParseFn(parseDocument);
      return ({ result, context: { params } }) => {
        if (result instanceof Error || getOperationAST(result, params?.operationName)) return;
        throw new GraphQLError(missingOperation(result, params?.operationName), {
          extensions: { http: { status: 400 } },
        });
      };
    },
    onValidate({ setValidationFn }) {
      setValidationFn((_: GraphQLSchema, document: DocumentNode) => documents.faultsOf(document));
    },
    onExecute({ args, setExecuteFn }) {
      setExecuteFn(() => executor.execute(requestOf(args), args.contextValue));
    },
    onSubscribe({ args, subscribeFn, setSubscribeFn }) {
      const { contextValue } = args;
      setSubscribeFn(async () => {
        const refusal = await executor.refusal(requestOf(args), contextValue);
        if (refusal) return { errors: [refusal] };
        // The gateway rejects a subscription if its client does not accept event streams. Without this rejection, Yoga
        // would leave the subscription open, although it could not send the results to the client.
        if (!allows(contextValue.request.headers.get('accept'), [eventStreamType])) {
          return { errors: [needsEventStream] };
        }
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

  return createYoga<YogaContext>({
    schema,
    plugins: [plugin],
    // Without `fetchAPI`, Yoga would use its own stream class (a ponyfill) instead of native streams. If Yoga used a
    // ponyfill stream, the gateway process would crash when a client cancels a response (honojs/node-server#233).
    fetchAPI: { ReadableStream, Response: TextResponse },
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    batching: false,
    multipart: false,
    parserAndValidationCache: {
      documentCache: documents.parsed,
      // The gateway does not cache a GraphQL document that `parseDocument` rejects. If Yoga cached rejected documents,
      // it would keep up to 1,024 of them in memory, each with up to 32,768 characters. It costs less to reject the
      // same GraphQL document again than to keep its text in memory.
      errorCache: { get: () => undefined, set: () => {} },
    },
    cors: false,
    logging: false,
    maskedErrors: false,
  });
}

/** The error for a subscription whose Accept header does not allow an event stream. */
const needsEventStream = new GraphQLError(`Accept must allow ${eventStreamType}`, {
  extensions: { http: { status: 406 } },
});

/**
 * A response that keeps its text body as a JavaScript string. The standard class `Response` would encode the text as
 * UTF-8, and its method `text()` would decode the UTF-8 again. Encoding and decoding several megabytes of text would
 * block all other requests for 200 ms.
 */
class TextResponse extends Response {
  readonly #text: string | undefined;

  constructor(body?: BodyInit | null, init?: ResponseInit) {
    const text = typeof body === 'string' ? body : undefined;
    super(text === undefined ? body : null, init);
    this.#text = text;
  }

  override async text(): Promise<string> {
    return this.#text ?? super.text();
  }
}

/** Converts the execution arguments of GraphQL Yoga to a request for the gateway's own executor. */
const requestOf = ({
  document,
  operationName,
  variableValues: variables,
}: {
  document: DocumentNode;
  operationName?: string | null;
  variableValues?: Variables | null;
}) => ({ document, operationName, variables });

/** Returns a copy of a GraphQL result in which the function `replace` has converted each error. */
const withErrors = <Result extends { errors?: readonly GraphQLError[] }>(
  result: Result,
  replace: (error: GraphQLError) => GraphQLError,
): Result => (result.errors ? { ...result, errors: result.errors.map(replace) } : result);
