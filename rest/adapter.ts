import { setTimeout as sleep } from 'node:timers/promises';
import { getNamedType, GraphQLID, isInputObjectType } from 'graphql';
import type { Answer } from '../src/http/response.ts';
import type { Context } from '../src/context.ts';
import { type ErrorSource, maskError } from '../src/errors/masking.ts';
import { type ErrorDetails, ServiceError } from '../src/errors/error-table.ts';
import type { GraphExecutor, PreparedOperation } from '../src/graphql/executor.ts';
import { brokenRule } from '../src/graphql/explain-variables.ts';
import { errorAnswer, successAnswer } from './envelope.ts';
import { createListValidator } from './list-validator.ts';
import {
  expectedVersion,
  ifMatch,
  isFailedPrecondition,
  preconditionFailed,
  versionTag,
} from './preconditions.ts';
import { type Brownout, createDeprecation } from './deprecation.ts';
import type { ConnectionPage, RestRequest, Route } from './routes.ts';
import { createTwin } from './twin.ts';

/** How many items the pages of a whole list have, and a page whose size is not asked for: the most of a connection. */
const streamedPageSize = 100;

/** Milliseconds in which other requests have their turn, however fast a client reads a long list. */
const pauseBetweenPagesMs = 2;

/** What REST calls arguments of the graph. */
const restNames = new Map([
  ['first', 'limit'],
  ['after', 'cursor'],
  [ifMatch.variable, ifMatch.header],
]);

const encoder = new TextEncoder();

/**
 * Turns a row of the endpoint table into the function that answers it: variables from the request, the
 * prepared document executed with them, its data in an envelope. Prepared once, at start.
 *
 * @param brownouts when deprecated routes are switched off for a while
 */
export function createRouteHandler(
  executor: GraphExecutor,
  route: Route,
  brownouts: readonly Brownout[],
): (request: RestRequest, context: Context) => Promise<Answer> {
  const operation = executor.prepare(route.document);
  const twin = createTwin(operation);
  const deprecation = createDeprecation(route, brownouts);
  const graphBody = createGraphBody(operation);
  const validator = route.hasEntityTag ? createListValidator(executor) : undefined;

  /** The data of the row's document. @throws {ServiceError} the first error, if there is one */
  async function execute(variables: Record<string, unknown>, context: Context): Promise<never> {
    const { data, errors } = await operation.run(variables, context);
    if (errors?.[0]) throw errors[0];
    return data as never;
  }

  async function variablesOf(request: RestRequest): Promise<Record<string, unknown>> {
    const { locationId, whitelistId } = request.params;
    const variables: Record<string, unknown> = {
      locationId,
      whitelistId,
      ...route.variables?.(request),
      ...(route.takesIfMatch && { [ifMatch.variable]: expectedVersion(request.ifMatch) }),
    };
    return graphBody ? { ...variables, input: await graphBody(variables.input) } : variables;
  }

  async function answer(request: RestRequest, context: Context): Promise<Answer> {
    if (request.asTwin) {
      const page = route.list && (pageOf(request) ?? { first: streamedPageSize });
      return twin({ ...(await variablesOf(request)), ...page });
    }
    const switchedOff = deprecation?.brownoutAnswer(request);
    if (switchedOff) return switchedOff;
    operation.authorize(context);
    const variables = await variablesOf(request);
    if (!route.list) {
      const data = await execute(variables, context);
      if (route.bare) return { status: 200, body: JSON.stringify(route.bare(data)) };
      const success = successAnswer(route.envelope!(data), route.status);
      return route.versionOf ? { ...success, headers: { ETag: versionTag(route.versionOf(data)) } } : success;
    }
    if (!validator) return answerList(request, variables, context);
    const unchanged = await validator.unchangedSince(request, context);
    if (unchanged) return { status: 304, body: null, headers: validatorHeaders(unchanged) };
    // Before the first page is read: what changes later is newer than the tag.
    const tag = await validator.current(request, context);
    const list = await answerList(request, variables, context);
    return { ...list, headers: validatorHeaders(tag) };
  }

  async function answerList(
    request: RestRequest,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<Answer> {
    const fetchPage = async (after: string | undefined, first: number | string) =>
      route.list!(await execute({ ...variables, after, first }, context));
    const asked = pageOf(request);
    if (asked) {
      const page = await fetchPage(asked.after, asked.first);
      const { hasNextPage, endCursor } = page.pageInfo;
      return successAnswer({ data: page.nodes, nextCursor: hasNextPage ? endCursor : null });
    }
    let pageSize = streamedPageSize;
    /** A page of a whole list, with fewer items from now on where so many are too large for one answer. */
    const fetchFittingPage = async (after: string | undefined): Promise<ConnectionPage> => {
      for (;;) {
        try {
          // What one answer may hold counts for each page of its own.
          return route.list!(await execute({ ...variables, after, first: pageSize }, { ...context }));
        } catch (error) {
          const isTooLarge = error instanceof ServiceError && error.code === 'VALIDATION_ERROR';
          if (!isTooLarge || pageSize === 1) throw error;
          pageSize = Math.ceil(pageSize / 4);
        }
      }
    };
    const first = await fetchFittingPage(undefined);
    if (!first.pageInfo.hasNextPage) return successAnswer({ data: first.nodes });
    const nextPage = async (after: string) => {
      await context.reauthenticate(); // a list ends with its key, however long it is
      return fetchFittingPage(after);
    };
    const breakOff = (error: unknown) => {
      const { message } = maskError(error, context);
      context.log.warn({ requestId: context.requestId, cause: message }, 'a list was broken off');
      return context.cutConnection();
    };
    return { status: 200, body: streamList(first, nextPage, breakOff) };
  }

  return async (request, context) => {
    const answered = await answer(request, context).catch((error: unknown) => renderRest(error, context));
    return deprecation
      ? { ...answered, headers: { ...answered.headers, ...deprecation.headers(request) } }
      : answered;
  };
}

/** The page that a request asks for, in the words of the graph; undefined for the whole list. */
function pageOf({
  query: { limit, cursor },
}: RestRequest): { first: number | string; after: string | undefined } | undefined {
  if (!limit && !cursor) return undefined;
  const first = /^[0-9]{1,9}$/.test(limit ?? '') ? Number(limit) : limit || streamedPageSize;
  return { first, after: cursor || undefined };
}

/**
 * Creates what makes a body the variable `input` of an operation; undefined for one without that variable.
 * Unknown fields are ignored (decisions, "unknown body fields"), where the graph refuses them. What the body must
 * be is asked once, by the resolver.
 *
 * The function throws `VALIDATION_ERROR` for a body that is no object, and for a number in the place of an
 * identifier, which GraphQL would take.
 */
function createGraphBody({ plan }: PreparedOperation): ((body: unknown) => Promise<unknown>) | undefined {
  const argument = plan.variableArguments.find(({ variable }) => variable === 'input')?.argument;
  if (!argument) return undefined;
  const type = getNamedType(argument.type);
  if (!isInputObjectType(type)) throw new TypeError(`The body of ${plan.rootFields[0]} is no input object`);
  const fields = Object.values(type.getFields());
  return async (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ServiceError('VALIDATION_ERROR', 'Request body must be a JSON object');
    }
    const sent = new Map(Object.entries(body));
    const known = fields.filter(({ name }) => sent.has(name));
    if (
      known.some(({ name, type }) => getNamedType(type) === GraphQLID && typeof sent.get(name) === 'number')
    ) {
      const broken = await brokenRule(argument, body);
      if (broken) throw broken;
    }
    return Object.fromEntries(known.map(({ name }) => [name, sent.get(name)]));
  };
}

/** Shows whatever went wrong in the form of the REST surface. */
export function renderRest(error: unknown, source: ErrorSource): Answer {
  const { message, code, details } = maskError(error, source);
  const shownError = { message, code, details: renamed(details) };
  return isFailedPrecondition({ code, details })
    ? errorAnswer(shownError, preconditionFailed)
    : errorAnswer(shownError);
}

/** Names a field as REST does: the arguments of a page and of a version are parameters and a header there. */
function renamed(details: ErrorDetails | undefined): ErrorDetails | undefined {
  const name = details?.field && restNames.get(details.field);
  if (!name) return details;
  const errors = details.errors?.map((fault) => ({ ...fault, field: name }));
  return { ...details, field: name, ...(errors && { errors }) };
}

/**
 * A whole list, written page by page as fast as the client reads.
 *
 * @param breakOff is told why a page failed, and cuts the connection: the server would end the answer as if it were
 *   complete. Returns whether there was one.
 */
function streamList(
  first: ConnectionPage,
  next: (after: string) => Promise<ConnectionPage>,
  breakOff: (error: unknown) => boolean,
) {
  const itemsOf = (page: ConnectionPage) => JSON.stringify(page.nodes).slice(1, -1);
  let page = first;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`{"success":true,"data":[${itemsOf(page)}`));
    },
    async pull(controller) {
      const { hasNextPage, endCursor } = page.pageInfo;
      if (hasNextPage && endCursor) {
        await sleep(pauseBetweenPagesMs);
        try {
          page = await next(endCursor);
        } catch (error) {
          if (!breakOff(error)) controller.error(error);
          return;
        }
        // Empty when what was left has been deleted since.
        controller.enqueue(encoder.encode(page.nodes.length > 0 ? `,${itemsOf(page)}` : ' '));
      } else {
        controller.enqueue(encoder.encode(']}'));
        controller.close();
      }
    },
  });
}

/** The headers of a list with an entity tag: a cache keeps it for one client, and asks whether it has changed. */
const validatorHeaders = (tag: string | undefined): Record<string, string> => ({
  ...(tag && { ETag: tag }),
  'Cache-Control': 'private, no-cache',
  Vary: 'Accept, Accept-Encoding',
});
