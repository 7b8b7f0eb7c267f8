import { getNamedType, GraphQLID, isInputObjectType } from 'graphql';
import type { Answer } from '../src/http/response.ts';
import type { Context } from '../src/context.ts';
import { type ErrorSource, maskError } from '../src/errors/masking.ts';
import { type ErrorDetails, ServiceError } from '../src/errors/error-table.ts';
import type { GraphExecutor, PreparedOperation } from '../src/graphql/executor.ts';
import { nodeShape } from '../src/graphql/node-shape.ts';
import { brokenRule } from '../src/graphql/explain-variables.ts';
import type { WholeList } from '../src/pages.ts';
import { errorAnswer, successAnswer } from './envelope.ts';
import { bodyOfPieces, piecesOf } from './json-pieces.ts';
import { restFieldsOf } from './rest-fields.ts';
import { createListValidator, listTag } from './list-validator.ts';
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
import { firstJsonPart, partOfPage, wholeListBody } from './whole-list.ts';

/** How many items a page of the graph has whose size is not asked for: the most of a connection. */
const graphPageSize = 100;

/** What REST calls arguments of the graph. */
const restNames = new Map([
  ['first', 'limit'],
  ['after', 'cursor'],
  [ifMatch.variable, ifMatch.header],
]);

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
  const shape = route.hasEntityTag ? nodeShape(operation.plan.document) : [];

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
    };
    if (route.takesIfMatch) variables[ifMatch.variable] = expectedVersion(request.ifMatch);
    if (graphBody) variables.input = await graphBody(variables.input);
    return variables;
  }

  async function answer(request: RestRequest, context: Context): Promise<Answer> {
    if (request.asTwin) {
      const page = route.list && (pageOf(request) ?? { first: graphPageSize });
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
      if (route.versionOf) success.headers = { ETag: versionTag(route.versionOf(data)) };
      return success;
    }
    const unchanged = await validator?.unchangedSince(request, context);
    if (unchanged) return { status: 304, body: null, headers: validatorHeaders(unchanged) };
    return pageOf(request) ? answerPage(request, variables, context) : answerWhole(variables, context);
  }

  /** A page that the client asks for. */
  async function answerPage(
    request: RestRequest,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<Answer> {
    // Before the page is read: what changes later is newer than the tag.
    const tag = await validator?.current(request, context);
    const own = { ...context, defersLargeValues: true };
    const page = route.list!(await execute({ ...variables, ...pageOf(request) }, own));
    const { hasNextPage, endCursor } = page.pageInfo;
    const pieces = piecesOf({ success: true, data: page.nodes, nextCursor: hasNextPage ? endCursor : null });
    const body = bodyOfPieces(pieces, context, (error) => breakOff(error, context));
    return { status: 200, body, ...(validator && { headers: validatorHeaders(tag) }) };
  }

  async function answerWhole(variables: Record<string, unknown>, context: Context): Promise<Answer> {
    let list: WholeList | undefined;
    const takeWholeList = (taken: WholeList) => (list = taken);
    const fetchPage = async (after?: string): Promise<ConnectionPage> => {
      const own = { ...context, takeWholeList, defersLargeValues: true };
      return route.list!(await execute({ after, first: graphPageSize, ...variables }, own));
    };
    const firstPage = await fetchPage();
    const written = list && (await firstJsonPart(list, shape));
    const first = written?.part ?? partOfPage(firstPage, fetchPage);
    const body = wholeListBody(first, context, (error) => breakOff(error, context));
    const headers = written && { headers: validatorHeaders(listTag(written.changesCursor)) };
    return { status: 200, body, ...headers };
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
  const first = /^[0-9]{1,9}$/.test(limit ?? '') ? Number(limit) : limit || graphPageSize;
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
  const fields = restFieldsOf(type);
  return async (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ServiceError('VALIDATION_ERROR', 'Request body must be a JSON object');
    }
    const sent = body as Readonly<Record<string, unknown>>;
    const known = fields.filter(({ name }) => Object.hasOwn(sent, name));
    if (known.some(({ name, type }) => getNamedType(type) === GraphQLID && typeof sent[name] === 'number')) {
      const broken = await brokenRule(argument, body);
      if (broken) throw broken;
    }
    return Object.fromEntries(known.map(({ name }) => [name, sent[name]]));
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

/** Cuts an answer that cannot be completed. Returns whether there was a connection. */
function breakOff(error: unknown, context: Context): boolean {
  const { message } = maskError(error, context);
  context.log.warn({ requestId: context.requestId, cause: message }, 'a list was broken off');
  return context.cutConnection();
}

/** The headers of a list with an entity tag: a cache keeps it for one client, and asks whether it has changed. */
function validatorHeaders(tag: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
  };
  if (tag) headers.ETag = tag;
  return headers;
}
