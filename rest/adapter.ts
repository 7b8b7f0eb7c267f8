import { getNamedType, GraphQLID, isInputObjectType } from 'graphql';
import type { Answer } from '../src/http/responses/response.ts';
import type { Context } from '../src/context.ts';
import { type ErrorSource, maskError } from '../src/errors/masking.ts';
import { type FieldFault, ServiceError } from '../src/errors/error-table.ts';
import { faultsError } from '../src/errors/faults.ts';
import type { GraphExecutor, PreparedOperation } from '../src/graphql/executor.ts';
import { nodeShape } from './node-shape.ts';
import { brokenRule } from '../src/graphql/check-variables.ts';
import { containsInexactNumber } from '../src/json/exact-numbers.ts';
import type { Metrics } from '../src/observability/metrics.ts';
import type { WholeList } from '../src/paging.ts';
import { errorAnswer, type RestError, successAnswer } from './envelope.ts';
import { formerNamesIn } from './former-names.ts';
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
import { type ConnectionPage, type RestRequest, type Route, routeName } from './routes.ts';
import { createTwin } from './twin.ts';
import { firstJsonPart, partOfPage, wholeListBody } from './whole-list.ts';

/**
 * The number of items that the REST API requests per GraphQL page when it reads a whole list. A page of a GraphQL list
 * has at most 100 items.
 */
const graphPageSize = 100;

/**
 * Maps each GraphQL argument that has another name in a REST request to its REST name. The REST name is the name of a
 * query parameter or header, or `body` for the request body.
 */
const restNames: ReadonlyMap<string, string> = new Map([
  ['first', 'limit'],
  ['after', 'cursor'],
  ['input', 'body'],
  [ifMatch.variable, ifMatch.header],
]);

/**
 * Creates the function that handles the requests to one REST endpoint. The handler takes the GraphQL variables from a
 * request, runs the GraphQL document of the endpoint, and puts the data into the response envelope. When the gateway
 * process starts, it prepares the GraphQL document of the REST endpoint once, and not again for each request.
 *
 * @param countError a function that counts an error in a response whose HTTP status the gateway has already sent
 */
export function createRouteHandler(
  executor: GraphExecutor,
  route: Route,
  countError: Metrics['countError'],
): (request: RestRequest, context: Context) => Promise<Answer> {
  const operation = executor.prepare(route.document);
  const twin = createTwin(operation);
  const graphBody = createGraphBody(operation);
  const validator = route.hasEntityTag ? createListValidator(executor) : undefined;
  const shape = route.hasEntityTag ? nodeShape(operation.plan.document) : [];

  /**
   * Runs the GraphQL document of the endpoint and returns its data.
   *
   * @throws {ServiceError} the first error, if the GraphQL result contains errors
   */
  async function execute(variables: Record<string, unknown>, context: Context): Promise<never> {
    const { data, errors } = await operation.run(variables, context);
    if (errors?.[0]) throw errors[0];
    return data as never;
  }

  /**
   * Closes the client's connection when a response cannot be completed, and records the error. If a response fails
   * after its first part was sent, the request is already in the log and the metrics with status 200. Returns false if
   * there is no connection to close.
   */
  function breakOff(error: unknown, context: Context): boolean {
    const { code, message } = maskError(error, context);
    const operation = routeName(route);
    context.log.warn(
      { requestId: context.requestId, operation, errorCode: code, cause: message },
      'a list response was cut because it could not be completed',
    );
    countError({ surface: 'rest', operation, errorCode: code });
    return context.cutConnection();
  }

  async function variablesOf(request: RestRequest): Promise<Record<string, unknown>> {
    const { locationId, whitelistId } = request.params;
    const variables: Record<string, unknown> = {
      locationId,
      whitelistId,
      ...route.variables?.(request),
    };
    if (route.takesIfMatch) variables[ifMatch.variable] = expectedVersion(request.ifMatch);
    if (graphBody) variables.input = await graphBody(variables.input, request.asTwin ?? false);
    return variables;
  }

  async function answer(request: RestRequest, context: Context): Promise<Answer> {
    if (request.asTwin) {
      const page = route.list && (pageOf(request) ?? { first: graphPageSize });
      return twin({ ...(await variablesOf(request)), ...page });
    }
    operation.authorize(context);
    const variables = await variablesOf(request);
    if (!route.list) {
      const data = await execute(variables, context);
      if (route.bare) return { status: 200, body: JSON.stringify(route.bare(data)) };
      const success = successAnswer(route.envelope!(data), route.status);
      if (route.versionOf) success.headers = { ETag: versionTag(route.versionOf(data)) };
      return success;
    }
    const unchanged = await unchangedTag(request, variables, context);
    if (unchanged) return { status: 304, body: null, headers: validatorHeaders(unchanged) };
    return pageOf(request) ? answerPage(request, variables, context) : answerWhole(variables, context);
  }

  /**
   * Returns the entity tag of a list if the list has not changed since the client read the list. If the list may have
   * changed since then, the function returns `undefined`, and the caller sends the list to the client.
   *
   * @throws {ServiceError} `VALIDATION_ERROR` if the limit, the cursor or a filter is invalid. The gateway must check
   *   this before it compares the entity tags, because an invalid request must not get the status 304 (RFC 9110,
   *   section 13.2.1)
   */
  async function unchangedTag(
    request: RestRequest,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<string | undefined> {
    if (!validator || request.ifNoneMatch === undefined) return undefined;
    // This call of `execute` only validates the arguments of the request. The GraphQL operation reads no whitelist
    // entries from the database, because the context contains `takeWholeList`.
    const withoutRead: Context = { ...context, takeWholeList: () => undefined };
    await execute({ ...variables, ...pageOf(request) }, withoutRead);
    return validator.unchangedSince(request, context);
  }

  /** Reads the requested page of a list, and creates the response. */
  async function answerPage(
    request: RestRequest,
    variables: Record<string, unknown>,
    context: Context,
  ): Promise<Answer> {
    // The gateway reads first the entity tag of a list, and then the items of the list. If the list changes after the
    // gateway has read the entity tag, the client gets the new list with an outdated entity tag. The client loses no
    // change, because its next conditional request returns the whole list again.
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

  return (request, context) =>
    answer(request, context).catch((error: unknown) =>
      renderRest(error, context, restNamesOf(route, request)),
    );
}

/**
 * Returns the GraphQL arguments for the requested page of a list, or `undefined` if the client requests the whole list.
 */
function pageOf({
  query: { limit, cursor },
}: RestRequest): { first: number | string; after: string | undefined } | undefined {
  if (!limit && !cursor) return undefined;
  const first = /^-?\d{1,15}(\.\d+)?$/.test(limit ?? '') ? Number(limit) : limit || graphPageSize;
  return { first, after: cursor || undefined };
}

/**
 * Creates the function that converts a REST body to the variable `input` of a GraphQL operation. Returns `undefined` if
 * the GraphQL operation has no variable `input`. The function removes unknown fields of the request body
 * (docs/contract.md#unknown-body-fields), because GraphQL would reject them. The GraphQL resolver later validates the
 * values of the known fields. A request body that is not a JSON object causes `VALIDATION_ERROR`. The created function
 * itself checks the values in the request body in two cases:
 *
 * - An identifier in the request body is a number. GraphQL itself would accept a number as the value of an identifier.
 * - The client asks for the equivalent GraphQL request (`asTwin`), and the body contains a number that JavaScript
 *   cannot represent exactly. In the JSON text of the GraphQL request, JavaScript would round this number, or write
 *   null for a large number such as 1e400.
 */
function createGraphBody({
  plan,
}: PreparedOperation): ((body: unknown, asTwin: boolean) => Promise<unknown>) | undefined {
  const argument = plan.variableArguments.find(({ variable }) => variable === 'input')?.argument;
  if (!argument) return undefined;
  const type = getNamedType(argument.type);
  if (!isInputObjectType(type)) throw new TypeError(`The body of ${plan.rootFields[0]} has no input object`);
  const fields = restFieldsOf(type);
  return async (body, asTwin) => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new ServiceError('VALIDATION_ERROR', 'Request body must be a JSON object');
    }
    const sent = body as Readonly<Record<string, unknown>>;
    const known = fields.filter(({ name }) => Object.hasOwn(sent, name));
    const hasNumberAsId = known.some(
      ({ name, type }) => getNamedType(type) === GraphQLID && typeof sent[name] === 'number',
    );
    if (hasNumberAsId || (asTwin && containsInexactNumber(body))) {
      const faults = await brokenRule(argument, body, body);
      if (faults.length > 0) throw faultsError(faults);
    }
    return Object.fromEntries(known.map(({ name }) => [name, sent[name]]));
  };
}

/** Returns the REST name of each GraphQL field that has another name in the REST request. */
export const restNamesOf = (
  { oldNames = {} }: Pick<Route, 'oldNames'>,
  request: Pick<RestRequest, 'params' | 'body'>,
): ReadonlyMap<string, string> => new Map([...restNames, ...formerNamesIn(oldNames, request)]);

/**
 * Converts any error to a REST response.
 *
 * @param names maps the GraphQL name of each field to the name of the same field in the REST request
 */
export function renderRest(error: unknown, source: ErrorSource, names = restNames): Answer {
  const masked = maskError(error, source);
  return errorAnswer(renamed(masked, names), isFailedPrecondition(masked) ? preconditionFailed : undefined);
}

/**
 * Replaces the GraphQL name of each invalid field with its REST name, in the message and in the details of an error.
 * For example, the GraphQL argument `first` is the query parameter `limit` in REST.
 */
function renamed({ message, code, details }: ServiceError, names: ReadonlyMap<string, string>): RestError {
  if (!details?.field) return { message, code, details };
  const withRestName = (fault: FieldFault): FieldFault => {
    const { field, message } = fault;
    const name = names.get(field);
    return name ? { field: name, message: message.replace(new RegExp(`\\b${field}\\b`), name) } : fault;
  };
  const errors = details.errors?.map(withRestName);
  const first = withRestName({ field: details.field, message });
  return {
    message: first.message,
    code,
    details: { ...details, field: first.field, ...(errors && { errors }) },
  };
}

/**
 * Returns the response headers for a list that has an entity tag. The header `Cache-Control` allows only a private
 * cache to store the list, such as the cache of a browser. Before a cache uses its stored list, it must ask the gateway
 * whether the list has changed.
 */
function validatorHeaders(tag: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept, Accept-Encoding',
  };
  if (tag) headers.ETag = tag;
  return headers;
}
