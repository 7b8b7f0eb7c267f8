import { type GraphAnswer, sendOperation } from './client.ts';
import { type Connection, jsonType } from './connection.ts';
import { exitCode, Failure } from './failure.ts';
import { failureOf, isGatewayFailure, notGateway, unexplainedFailure } from './gateway-fetch.ts';
import { isObject } from './is-object.ts';

/** A request to the REST API. */
export interface RestCall {
  method: string;
  /** The path of the request with its query, beginning with `/api/`. */
  path: string;
  body?: string | undefined;
  /** The value of the request header `If-Match`. */
  ifMatch?: string | undefined;
}

/** The GraphQL request that is equivalent to a REST request, in the form of a request body for the GraphQL endpoint. */
export interface Twin {
  query: string;
  operationName: string;
  variables: Record<string, unknown>;
}

/**
 * Sends REST requests to a gateway, for commands that help users to move from REST to GraphQL. When the gateway fails,
 * the client repeats the request a few times. If the gateway still fails, the client throws a temporary `Failure`.
 */
export interface RestClient {
  /**
   * Sends a GET request for a comparison of REST with GraphQL. Returns the REST response, even if the gateway rejected
   * the request. Throws an error only if the gateway itself failed, and not if it rejected the request.
   */
  get(path: string): Promise<{ status: number; body: unknown }>;
  /**
   * Returns the GraphQL request that is equivalent to a REST request. The gateway executes neither the REST request nor
   * the GraphQL request.
   *
   * @throws {Failure} when the gateway returns an error, for example because the path is unknown
   */
  twinOf(call: RestCall): Promise<Twin>;
  /**
   * Executes a GraphQL request that is equivalent to a GET request. Returns the GraphQL response, with or without
   * GraphQL errors. Throws an error only if the gateway itself failed, and not if it rejected the request.
   */
  read(twin: Twin): Promise<GraphAnswer<Record<string, unknown>>>;
}

const twinMediaType = 'application/graphql-request+json';
/**
 * The headers with which the client tells the gateway that it sends a REST request only to compare REST with GraphQL.
 * The gateway does not add a request with these headers to the usage records of the REST endpoint.
 */
const comparison = { 'X-Request-Purpose': 'parity' };
/**
 * The path of a REST request that is harmless, because it changes no data. A gateway before version 1.6.0 would execute
 * this REST request instead of returning the equivalent GraphQL request.
 */
const harmlessPath = '/api/health';

const isTwin = ({ headers }: Response) => headers.get('Content-Type')?.startsWith(twinMediaType) ?? false;

/** Creates a client of the REST API. */
export function createRestClient(connection: Connection): RestClient {
  let knowsTwins = false;

  const ask = ({ method, path, body, ifMatch }: RestCall) => {
    // The client sends GET and HEAD requests without the body, because `fetch` rejects them with a body, and the
    // gateway ignores the body.
    const sent = /^(GET|HEAD)$/i.test(method) ? undefined : body;
    return connection.send(path, {
      method,
      headers: {
        Accept: twinMediaType,
        ...(sent !== undefined && jsonType),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      ...(sent !== undefined && { body: sent }),
    });
  };

  /**
   * Checks with a harmless request whether the gateway can convert a REST request to the equivalent GraphQL request. A
   * gateway before version 1.6.0 cannot convert a REST request to a GraphQL request, and would execute the REST request
   * instead.
   */
  async function requireTwins(): Promise<void> {
    if (knowsTwins) return;
    const { response, body } = await ask({ method: 'GET', path: harmlessPath });
    if (response.ok && !isTwin(response)) {
      if (!isHealth(body)) throw notGateway(response.url, 'it has no health endpoint');
      throw new Failure(
        'This gateway is older than version 1.6.0 and cannot translate REST requests. Update the gateway.',
      );
    }
    if (!response.ok) throw refusalOf(body, response);
    knowsTwins = true;
  }

  return {
    get: (path) =>
      connection.repeat(async () => {
        const { response, body } = await connection.send(path, { method: 'GET', headers: comparison });
        if (isGatewayFailure(response)) throw refusalOf(body, response);
        return { status: response.status, body };
      }),
    async twinOf(call) {
      // The path /api/../graphql begins with /api/, but is not a path of the REST API. The function `twinOf` therefore
      // resolves `..` in a path before it checks that the path begins with /api/.
      if (!new URL(call.path, 'http://gateway').pathname.startsWith('/api/')) {
        throw new Failure(`Not a path of the REST API: ${call.path}`, exitCode.usage);
      }
      return connection.repeat(async () => {
        await requireTwins();
        const { response, body } = await ask(call);
        if (!isTwin(response)) throw refusalOf(body, response);
        return body as Twin;
      });
    },
    read: (twin) =>
      connection.repeat(async () => {
        const { answer, response } = await sendOperation<Record<string, unknown>>(connection, twin);
        const failure = answer.errors && failureOf(answer.errors, response);
        if (failure?.temporary) throw failure;
        return answer;
      }),
  };
}

/** Whether a response body is the health status of a parking gateway. */
const isHealth = (body: unknown) => isObject(body) && 'status' in body;

/** Creates the `Failure` for a REST response that contains an error. */
function refusalOf(body: unknown, response: Response): Failure {
  const { error } = (isObject(body) ? body : {}) as {
    error?: { message?: string; code?: string; details?: object };
  };
  if (typeof error?.message !== 'string') {
    if (isGatewayFailure(response)) return failureOf(unexplainedFailure, response);
    return notGateway(response.url, `status ${response.status} without an error of a gateway`);
  }
  const { message, ...extensions } = error;
  return failureOf([{ message, extensions }], response);
}
