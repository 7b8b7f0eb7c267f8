import { getNamedType, GraphQLID, isInputObjectType } from 'graphql';
import type { Answer } from '../src/http/responses/response.ts';
import type { Context } from '../src/context.ts';
import { type ErrorSource, maskError } from '../src/errors/masking.ts';
import { type ErrorDetails, ServiceError } from '../src/errors/error-table.ts';
import { faultsError } from '../src/errors/faults.ts';
import type { GraphExecutor, PreparedOperation } from '../src/graphql/executor.ts';
import { nodeShape } from './node-shape.ts';
import { brokenRule } from '../src/graphql/explain-variables.ts';
import type { WholeList } from '../src/paging.ts';
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

/** The page size with which REST reads a whole list from the graph. It is the maximum page size of the graph. */
const graphPageSize = 100;

/** The names that REST uses for some arguments of the graph. */
const restNames = new Map([
  ['first', 'limit'],
  ['after', 'cursor'],
  [ifMatch.variable, ifMatch.header],
]);

/**
 * Creates the function that answers requests to one REST endpoint. The function reads the variables from the request,
 * runs the GraphQL document of the endpoint, and puts the data into an envelope. The document is prepared once, when
 * the process starts.
 *
 * @param brownouts the times at which deprecated routes are switched off
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

  /**
   * Runs the GraphQL document of the endpoint and returns its data.
   *
   * @throws {ServiceError} the first error, if the result has errors
   */
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

  /** Reads the page that the client asks for, and creates the response. */
  async function answerPage(
    request: RestRequest,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<Answer> {
    // The entity tag is read before the list. If the list changes in the meantime, the tag is older than the list, and
    // the client's next request gets the change.
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

/**
 * Returns the arguments of the graph for the page that a REST request asks for. The result is undefined when the
 * request asks for the whole list.
 */
function pageOf({
  query: { limit, cursor },
}: RestRequest): { first: number | string; after: string | undefined } | undefined {
  if (!limit && !cursor) return undefined;
  const first = /^[0-9]{1,9}$/.test(limit ?? '') ? Number(limit) : limit || graphPageSize;
  return { first, after: cursor || undefined };
}

/**
 * Creates the function that converts a REST body to the variable `input` of a GraphQL operation. For an operation
 * without this variable, the result is undefined. Unknown fields are removed (docs/contract.md#unknown-body-fields),
 * because GraphQL would reject them. The resolver validates the values later. The function throws `VALIDATION_ERROR`
 * for a body that is not an object. It also does so for a number in place of an identifier, which GraphQL would accept.
 */
function createGraphBody({ plan }: PreparedOperation): ((body: unknown) => Promise<unknown>) | undefined {
  const argument = plan.variableArguments.find(({ variable }) => variable === 'input')?.argument;
  if (!argument) return undefined;
  const type = getNamedType(argument.type);
  if (!isInputObjectType(type)) throw new TypeError(`The body of ${plan.rootFields[0]} has no input object`);
  const fields = restFieldsOf(type);
  return async (body) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ServiceError('VALIDATION_ERROR', 'Request body must be a JSON object');
    }
    const sent = body as Readonly<Record<string, unknown>>;
    const known = fields.filter(({ name }) => Object.hasOwn(sent, name));
    if (known.some(({ name, type }) => getNamedType(type) === GraphQLID && typeof sent[name] === 'number')) {
      const faults = await brokenRule(argument, body, body);
      if (faults.length > 0) throw faultsError(faults);
    }
    return Object.fromEntries(known.map(({ name }) => [name, sent[name]]));
  };
}

/** Converts any error to a REST response. */
export function renderRest(error: unknown, source: ErrorSource): Answer {
  const { message, code, details } = maskError(error, source);
  const shownError = { message, code, details: renamed(details) };
  return isFailedPrecondition({ code, details })
    ? errorAnswer(shownError, preconditionFailed)
    : errorAnswer(shownError);
}

/**
 * Returns the details of an error with the REST name of the field. For example, the arguments of pages are query
 * parameters in REST, and the expected version is a header.
 */
function renamed(details: ErrorDetails | undefined): ErrorDetails | undefined {
  const name = details?.field && restNames.get(details.field);
  if (!name) return details;
  const errors = details.errors?.map((fault) => ({ ...fault, field: name }));
  return { ...details, field: name, ...(errors && { errors }) };
}

/** Closes the connection of a response that cannot be completed. Returns false when the request has no connection. */
function breakOff(error: unknown, context: Context): boolean {
  const { message } = maskError(error, context);
  context.log.warn(
    { requestId: context.requestId, cause: message },
    'a list response was cut because it could not be completed',
  );
  return context.cutConnection();
}

/**
 * Returns the headers of a list with an entity tag. Only a private cache may keep the list, and it must ask the gateway
 * before each use whether the list has changed.
 */
function validatorHeaders(tag: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
  };
  if (tag) headers.ETag = tag;
  return headers;
}
