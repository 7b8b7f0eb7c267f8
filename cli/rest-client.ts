import type { GraphAnswer } from './client.ts';
import { type Connection, jsonType } from './connection.ts';
import { exitCode, Failure } from './failure.ts';
import { failureOf, type GraphError } from './gateway-fetch.ts';

/** A request to the REST surface. */
export interface RestCall {
  method: string;
  /** The path and query, from `/api/` on. */
  path: string;
  body?: string | undefined;
  /** The header `If-Match`. */
  ifMatch?: string | undefined;
}

/** The GraphQL request that serves a REST call, ready to be posted. */
export interface Twin {
  query: string;
  operationName: string;
  variables: Record<string, unknown>;
}

/** Asks the REST surface of a gateway, for commands about the way from REST to the graph. */
export interface RestClient {
  /** The answer to a GET that compares the surfaces, also one that says what is wrong. */
  get(path: string): Promise<{ status: number; body: unknown }>;
  /**
   * The twin of a call, which is not executed.
   *
   * @throws {Failure} with what the gateway said, such as that it does not know the path
   */
  twinOf(call: RestCall): Promise<Twin>;
  /** What the graph answers to a twin, errors included. */
  run(twin: Twin): Promise<GraphAnswer<Record<string, unknown>>>;
}

const twinMediaType = 'application/graphql-request+json';
/** Says that a request compares the surfaces: it does not count as a use of its endpoint. */
const comparison = { 'X-Request-Purpose': 'parity' };
/** A path that changes nothing, whoever answers. */
const harmlessPath = '/api/health';

const isTwin = ({ headers }: Response) => headers.get('Content-Type')?.startsWith(twinMediaType) ?? false;

/** Creates a client of the REST surface. */
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

  /** A gateway of before twins would execute the call: a harmless one tells them apart. */
  async function requireTwins(): Promise<void> {
    if (knowsTwins) return;
    const { response, body } = await ask({ method: 'GET', path: harmlessPath });
    if (response.ok && !isTwin(response)) {
      throw new Failure('This gateway is older than version 1.6.0 and cannot translate REST requests.');
    }
    if (!response.ok) throw failureOf([errorOf(body)], response);
    knowsTwins = true;
  }

  return {
    async get(path) {
      const { response, body } = await connection.send(path, { method: 'GET', headers: comparison });
      return { status: response.status, body };
    },
    async twinOf(call) {
      // An address such as /api/../graphql would leave the surface that knows twins.
      if (!new URL(call.path, 'http://gateway').pathname.startsWith('/api/')) {
        throw new Failure(`Not a path of the REST surface: ${call.path}`, exitCode.usage);
      }
      await requireTwins();
      const { response, body } = await ask(call);
      if (!isTwin(response)) throw failureOf([errorOf(body)], response);
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

/** What the error envelope of REST says, in the form of the graph. */
function errorOf(body: unknown): GraphError {
  const { error } = body as { error?: { message: string; code?: string; details?: object } };
  const { message = 'The gateway gave no twin', ...extensions } = error ?? {};
  return { message, extensions };
}
