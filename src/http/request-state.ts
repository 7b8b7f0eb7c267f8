import type { HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import type { AuthenticatedKey } from '../auth/key.ts';
import type { Context } from '../context.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import type { RateLimitDecision } from '../rate-limit/types.ts';

/** The part of the gateway to which a request goes: REST, GraphQL, or the public pages. */
export type Surface = 'rest' | 'graphql' | 'public';

/** The operation name of a request until its operation is known. A request without a valid API key keeps this name. */
export const unknownOperation = 'unknown';

/** The operation name of all requests for public pages. */
export const publicOperation = 'page';

/** The data that the gateway collects while it answers a request, and records after the response. */
export interface RequestState {
  readonly requestId: string;
  readonly surface: Surface;
  /**
   * The client's IP address in canonical form. For requests without a valid API key, the rate limit of this address
   * applies.
   */
  readonly address: string;
  readonly log: Logger;
  /**
   * The value of the request's `Accept-Encoding` header, which names the compression methods that the client accepts.
   */
  readonly acceptEncoding: string | undefined;
  /**
   * The number of response bytes in memory that the client has not read yet. Bytes in the buffers of the connection do
   * not count.
   */
  heldBytes: number;
  /** The name of the operation: the name of a REST route, or the root fields of a GraphQL operation. */
  operation: string;
  key?: AuthenticatedKey;
  decision?: RateLimitDecision;
  /**
   * The code of the first error in the response. GraphQL answers most errors with status 200, so the status alone does
   * not show an error.
   */
  errorCode?: ErrorCode;
  /** The path of the first error in a GraphQL response, such as `viewer.usage`. */
  errorPath?: string;
  /** The response, once it has the headers that all REST or GraphQL responses have. */
  response?: Response;
}

/** The values that Hono passes from one handler to the next. */
export interface GatewayEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { state: RequestState; context: Context };
}
