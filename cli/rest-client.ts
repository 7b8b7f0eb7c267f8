import type { GraphAnswer } from './client.ts';
import { type Connection, jsonType } from './connection.ts';
import { exitCode, Failure } from './failure.ts';
import { failureOf, notGateway } from './gateway-fetch.ts';

/** A request to the REST API. */
export interface RestCall {
  method: string;
  /** The path of the request with its query, beginning with `/api/`. */
  path: string;
  body?: string | undefined;
  /** The value of the request header `If-Match`. */
  ifMatch?: string | undefined;
}

/** The GraphQL request that is equivalent to a REST request. It can be posted unchanged. */
export interface Twin {
  query: string;
  operationName: string;
  variables: Record<string, unknown>;
}

/** Sends REST requests to a gateway, for commands that help users to move from REST to GraphQL. */
export interface RestClient {
  /** Sends a GET request for a comparison with GraphQL. Returns every response, even an error. */
  get(path: string): Promise<{ status: number; body: unknown }>;
  /**
   * Returns the GraphQL request (the twin) that is equivalent to a REST request. The gateway does not execute the REST
   * request.
   *
   * @throws {Failure} with the error of the gateway, for example for an unknown path
   */
  twinOf(call: RestCall): Promise<Twin>;
  /** Executes a GraphQL request that is equivalent to a REST request. Returns every response, even an error. */
  run(twin: Twin): Promise<GraphAnswer<Record<string, unknown>>>;
}

const twinMediaType = 'application/graphql-request+json';
/**
 * The headers that mark a request as a comparison of REST with GraphQL. Such a request does not count as a use of the
 * endpoint.
 */
const comparison = { 'X-Request-Purpose': 'parity' };
/**
 * The path of a request that changes nothing, even if a server ignores the header that asks for the GraphQL request.
 */
const harmlessPath = '/api/health';

const isTwin = ({ headers }: Response) => headers.get('Content-Type')?.startsWith(twinMediaType) ?? false;

/** Creates a client of the REST API. */
export function createRestClient(connection: Connection): RestClient {
  let knowsTwins = false;

  const ask = ({ method, path, body, ifMatch }: RestCall) =>
    connection.send(path, {
      method,
      headers: {
        Accept: twinMediaType,
        ...(body !== undefined && jsonType),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      ...(body !== undefined && { body }),
    });

  /**
   * Checks with a harmless path that the gateway returns equivalent GraphQL requests. A gateway before version 1.6.0
   * would execute the REST request instead.
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
    async get(path) {
      const { response, body } = await connection.send(path, { method: 'GET', headers: comparison });
      return { status: response.status, body };
    },
    async twinOf(call) {
      // The resolved path is checked, because a path such as /api/../graphql would not be a REST path.
      if (!new URL(call.path, 'http://gateway').pathname.startsWith('/api/')) {
        throw new Failure(`Not a path of the REST API: ${call.path}`, exitCode.usage);
      }
      await requireTwins();
      const { response, body } = await ask(call);
      if (!isTwin(response)) throw refusalOf(body, response);
      return body as Twin;
    },
    async run(twin) {
      const { body } = await connection.send('/graphql', {
        method: 'POST',
        headers: jsonType,
        body: JSON.stringify(twin),
      });
      return body as GraphAnswer<Record<string, unknown>>;
    },
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether a response body is the health status of a parking gateway. */
const isHealth = (body: unknown) => isObject(body) && 'status' in body;

/** Creates the failure for a REST response with an error. */
function refusalOf(body: unknown, response: Response): Failure {
  const { error } = (isObject(body) ? body : {}) as {
    error?: { message?: string; code?: string; details?: object };
  };
  if (typeof error?.message !== 'string')
    return notGateway(response.url, `status ${response.status} without an error of a gateway`);
  const { message, ...extensions } = error;
  return failureOf([{ message, extensions }], response);
}
