import type { Answer, TestGateway } from './harness.ts';

/**
 * An operation that clients can call through a documented REST endpoint, or through the equivalent GraphQL operation.
 */
export interface Operation {
  name: string;
  /** The permission that the operation needs, or `undefined` when every API key may call the operation. */
  permission?: string;
  /**
   * True if requests for this operation contain the id of a location. If the location in the request is outside the API
   * key's scope, the gateway responds with NOT_FOUND.
   */
  location?: boolean;
  rest: { method: string; path: string; body?: unknown };
  graph: { query: string; variables?: Record<string, unknown> };
}

/** The status, code and message of an error response, over REST or GraphQL. */
export interface Failure {
  status: number;
  code: string | undefined;
  message: string | undefined;
  details: Record<string, unknown> | undefined;
  headers: Headers;
}

/**
 * Two functions that call the same operation, one over REST and one over GraphQL, and that return errors in the same
 * form.
 */
export const surfaces = {
  rest: async (
    gateway: TestGateway,
    operation: Operation,
    key?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer & Failure> => {
    const { method, path, body } = operation.rest;
    const answer = await gateway.rest(method, path, { key, body, headers });
    const { code, message, details } = answer.body.error ?? {};
    return { ...answer, code, message, details };
  },
  graph: async (
    gateway: TestGateway,
    operation: Operation,
    key?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer & Failure> => {
    const { query, variables } = operation.graph;
    const answer = await gateway.graph(query, { key, headers, ...(variables && { variables }) });
    const [error] = answer.body.errors ?? [];
    return {
      ...answer,
      code: error?.extensions?.code,
      message: error?.message,
      details: error?.extensions?.details,
    };
  },
};

/** The name of an API surface, which is either `rest` or `graph` (GraphQL). */
export type SurfaceName = keyof typeof surfaces;
export const surfaceNames = Object.keys(surfaces) as SurfaceName[];
