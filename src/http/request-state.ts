import type { HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import type { AuthenticatedKey } from '../auth/key.ts';
import type { Context } from '../context.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import type { RateLimitDecision } from '../rate-limit/types.ts';

/** The two ways to the service, and what is public: the contract and its pages. */
export type Surface = 'rest' | 'graphql' | 'public';

/** What a request is called before it is known what it asks for, as when it has no valid key. */
export const unknownOperation = 'unknown';

/** What requests of public pages are called. */
export const publicOperation = 'page';

/** What is known of a request while it is answered, and recorded when it is. */
export interface RequestState {
  readonly requestId: string;
  readonly surface: Surface;
  /** The address of the client, in one form; requests without a valid key are limited by it. */
  readonly address: string;
  readonly log: Logger;
  /** The codings in which the client takes an answer, as its `Accept-Encoding` says. */
  readonly acceptEncoding: string | undefined;
  /** Bytes of the answer that wait in memory for the client, besides those that its connection has in its buffers. */
  heldBytes: number;
  /** What runs: a row of the endpoint table, or the root fields of a GraphQL operation. */
  operation: string;
  key?: AuthenticatedKey;
  decision?: RateLimitDecision;
  /** The code of the first error that the client is told. The graph answers most errors with status 200. */
  errorCode?: ErrorCode;
  /** Where in the answer of the graph that error is, such as `viewer.usage`. */
  errorPath?: string;
  /** The response that has the headers of its surface. */
  response?: Response;
}

/** What Hono carries from handler to handler. */
export interface GatewayEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { state: RequestState; context: Context };
}
