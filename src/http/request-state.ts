import type { HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import type { AuthenticatedKey } from '../auth/key.ts';
import type { Context } from '../context.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import type { RateLimitDecision } from '../rate-limit/types.ts';

/** The part of the service that a request uses: one of the two APIs, or the public pages, such as the contract. */
export type Surface = 'rest' | 'graphql' | 'public';

/** The operation name of a request whose operation is not known yet. A request without a valid key keeps this name. */
export const unknownOperation = 'unknown';

/** The operation name of requests for public pages. */
export const publicOperation = 'page';

/** The state of one request. When the request has been answered, the gateway records this state. */
export interface RequestState {
  readonly requestId: string;
  readonly surface: Surface;
  /** The client's address in canonical form. Requests without a valid key are rate-limited by this address. */
  readonly address: string;
  readonly log: Logger;
  /** The request's `Accept-Encoding` header: the content codings that the client accepts. */
  readonly acceptEncoding: string | undefined;
  /**
   * The number of response bytes in memory that the client has not read yet. Bytes in the buffers of its connection do
   * not count.
   */
  heldBytes: number;
  /** The name of the operation: a row of the endpoint table, or the root fields of a GraphQL operation. */
  operation: string;
  key?: AuthenticatedKey;
  decision?: RateLimitDecision;
  /** The code of the first error in the response. GraphQL answers most errors with status 200. */
  errorCode?: ErrorCode;
  /** The path of the first error in a GraphQL response, such as `viewer.usage`. */
  errorPath?: string;
  /** The response of the request, if it already has the headers of its surface. */
  response?: Response;
}

/** The values that Hono passes from handler to handler. */
export interface GatewayEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { state: RequestState; context: Context };
}
