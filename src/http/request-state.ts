import type { HttpBindings } from '@hono/node-server';
import type { Logger } from 'pino';
import type { AuthenticatedKey } from './auth.ts';
import type { Context } from './context.ts';
import type { RateLimitDecision } from './limiter.ts';

/** The two ways to the service. */
export type Surface = 'rest' | 'graphql';

/** What is known of a request while it is answered, and recorded when it is. */
export interface RequestState {
  readonly requestId: string;
  readonly surface: Surface;
  /** The address of the client, by which requests without a valid key are limited. */
  readonly address: string;
  readonly log: Logger;
  /** What runs: a row of the endpoint table, or the root fields of a GraphQL operation. */
  operation: string;
  key?: AuthenticatedKey;
  decision?: RateLimitDecision;
  /** The response that has the headers of its surface. */
  response?: Response;
}

/** What Hono carries from handler to handler. */
export interface GatewayEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { state: RequestState; context: Context };
}
