import { setTimeout as sleep } from 'node:timers/promises';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { Answer } from '../src/answer.ts';
import type { Context } from '../src/context.ts';
import { type ErrorSource, maskError } from '../src/error-masking.ts';
import type { ErrorCode, ErrorDetails } from '../src/errors.ts';
import { argumentRule, authorizeOperation, explainVariables, planOperation } from '../src/operation.ts';
import { validationError } from '../src/validation.ts';
import { errorAnswer, successAnswer } from './envelope.ts';
import type { ConnectionPage, RestRequest, Route } from './routes.ts';

/** How many items the pages of a whole list have: the most that a connection gives. */
const streamedPage = 100;

/** Milliseconds in which other requests have their turn, however fast a client reads a long list. */
const pauseBetweenPages = 2;

/** What the query parameters of a page are called in the graph. */
const pageParameters = { limit: 'first', cursor: 'after' } as const;

/** When the resident routes were deprecated (version 1.3.0), and when they may be removed. */
const deprecated = new Date('2025-09-03T00:00:00Z');
const sunset = new Date('2027-06-30T00:00:00Z');

const encoder = new TextEncoder();

/** Thrown for an answer that is an error; `answer` is its envelope. */
class RestFailure extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('The request failed');
    this.answer = answer;
  }
}

/**
 * Turns a row of the endpoint table into the function that answers it: variables from the request, the
 * prepared document executed with them, its data in an envelope. Compiled once, at start.
 */
export function createRouteHandler(
  schema: GraphQLSchema,
  route: Route,
): (request: RestRequest, context: Context) => Promise<Answer> {
  const document: DocumentNode = route.document;
  const plan = planOperation(schema, document);
  const compiled = compileQuery(schema, document);
  if (!isCompiledQuery(compiled)) throw new TypeError(`The document of ${route.path} does not compile`);
  const { query } = compiled;
  const input = plan.variableArguments.find(({ variable }) => variable === 'input');
  const inputRule = input && argumentRule(input.argument);

  async function execute(variables: Record<string, unknown>, context: Context): Promise<never> {
    const result = (await query({}, context, variables)) as ExecutionResult;
    if (!result.errors) return result.data as never;
    const explained = result.data === undefined && (await explainVariables(schema, plan, variables));
    throw new RestFailure(renderRest(explained || result.errors[0]!, context));
  }

  async function variablesOf(request: RestRequest): Promise<Record<string, unknown>> {
    const { locationId, whitelistId } = request.params;
    const variables: Record<string, unknown> = { locationId, whitelistId, ...route.variables?.(request) };
    if (inputRule) {
      const parsed = await inputRule['~standard'].validate(variables.input ?? null);
      if (parsed.issues) throw validationError(parsed.issues, variables.input);
      variables.input = parsed.value;
    }
    return variables;
  }

  async function answer(request: RestRequest, context: Context): Promise<Answer> {
    authorizeOperation(plan, context.key);
    const variables = await variablesOf(request);
    if (!route.list) {
      const data = await execute(variables, context);
      if (route.bare) return { status: 200, body: JSON.stringify(route.bare(data)) };
      return successAnswer(route.envelope!(data), route.status);
    }
    const fetchPage = async (after: string | undefined, first: number | string) =>
      route.list!(await execute({ ...variables, after, first }, context));
    const { limit, cursor } = request.query;
    if (limit || cursor) {
      const size = /^[0-9]{1,9}$/.test(limit ?? '') ? Number(limit) : limit || streamedPage;
      const page = await fetchPage(cursor || undefined, size);
      const { hasNextPage, endCursor } = page.pageInfo;
      return successAnswer({ data: page.nodes, nextCursor: hasNextPage ? endCursor : null });
    }
    const first = await fetchPage(undefined, streamedPage);
    if (!first.pageInfo.hasNextPage) return successAnswer({ data: first.nodes });
    return { status: 200, body: streamList(first, (after) => fetchPage(after, streamedPage)) };
  }

  const headers = route.successor
    ? (request: RestRequest) => deprecationHeaders(route.successor!, request)
    : undefined;

  return async (request, context) => {
    const answered = await answer(request, context).catch((error: unknown) =>
      error instanceof RestFailure ? error.answer : renderRest(error, context),
    );
    return headers ? { ...answered, headers: headers(request) } : answered;
  };
}

/** Shows whatever went wrong in the form of the REST surface. */
export function renderRest(error: unknown, source: ErrorSource): Answer {
  const { message, extensions } = maskError(error, source);
  return errorAnswer({
    message,
    code: extensions.code as ErrorCode,
    details: renamed(extensions.details as ErrorDetails | undefined),
    requestId: extensions.requestId as string | undefined,
  });
}

/** Calls the fields of a page as REST does. */
function renamed(details: ErrorDetails | undefined): ErrorDetails | undefined {
  const names = Object.entries(pageParameters).map(([rest, graph]) => [graph, rest] as const);
  const name = names.find(([graph]) => graph === details?.field)?.[1];
  return name && details?.errors
    ? { ...details, field: name, errors: details.errors.map((fault) => ({ ...fault, field: name })) }
    : details;
}

/** A whole list, written page by page as fast as the client reads. */
function streamList(first: ConnectionPage, next: (after: string) => Promise<ConnectionPage>) {
  const itemsOf = (page: ConnectionPage) => JSON.stringify(page.nodes).slice(1, -1);
  let page = first;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`{"success":true,"data":[${itemsOf(page)}`));
    },
    async pull(controller) {
      const { hasNextPage, endCursor } = page.pageInfo;
      if (hasNextPage && endCursor) {
        await sleep(pauseBetweenPages);
        page = await next(endCursor);
        // Empty when what was left has been deleted since.
        controller.enqueue(encoder.encode(page.nodes.length > 0 ? `,${itemsOf(page)}` : ' '));
      } else {
        controller.enqueue(encoder.encode(']}'));
        controller.close();
      }
    },
  });
}

/** The headers of a deprecated route (RFC 9745, RFC 8594, RFC 8288). */
function deprecationHeaders(successor: string, { params }: RestRequest): Record<string, string> {
  const target = successor.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return {
    Deprecation: `@${deprecated.getTime() / 1000}`,
    Sunset: sunset.toUTCString(),
    Link: `</api${target}>; rel="successor-version"`,
  };
}
