import type { HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import type { AuthenticatedKey } from '../auth/key.ts';
import type { Context } from '../context.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import type { RateLimitDecision } from '../rate-limit/types.ts';

/**
 * Whether a request goes to the REST API, to the GraphQL API, or to the public pages.
 */
export type Surface = 'rest' | 'graphql' | 'public';

/**
 * The operation name of a request for which the gateway has not yet determined the operation. If a request has no valid
 * API key, its operation name stays `unknownOperation`.
 */
export const unknownOperation = 'unknown';

/** The operation name of all requests for public pages. */
export const publicOperation = 'page';

/**
 * The data that the gateway collects about one request. The gateway collects the data about a request while it answers
 * the request, and records the data after the response.
 */
export interface RequestState {
  readonly requestId: string;
  readonly surface: Surface;
  /**
   * The client's IP address in canonical form. If the request has no valid API key, the rate limit of the client's
   * address applies.
   */
  readonly address: string;
  readonly log: Logger;
  /** The value of the request header `Accept-Encoding`, which lists the compression methods that the client accepts. */
  readonly acceptEncoding: string | undefined;
  /**
   * The number of response bytes that wait in memory for the client. `heldBytes` does not include bytes that are
   * already in the buffers of the connection.
   */
  heldBytes: number;
  /**
   * The name of the requested operation: for REST the name of the route, and for GraphQL the names of the root fields.
   */
  operation: string;
  key?: AuthenticatedKey;
  decision?: RateLimitDecision;
  /**
   * The code of the first error in the response. Most GraphQL responses with an error have status 200, so only the
   * error code shows that the request failed.
   */
  errorCode?: ErrorCode;
  /** The path of the first error in a GraphQL response, such as `viewer.usage`. */
  errorPath?: string;
  /**
   * The response to the request, with the headers that all REST or GraphQL responses have; undefined until `respond`
   * has created the response.
   */
  response?: Response;
}

/** The values that Hono passes from one handler of a request to the next. */
export interface GatewayEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { state: RequestState; context: Context };
}
