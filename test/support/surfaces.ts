import type { Answer, TestGateway } from './harness.ts';

/** An operation on REST and GraphQL: a documented endpoint, and the equivalent graph operation. */
export interface Operation {
  name: string;
  /** The permission that the operation needs, or undefined when every key may call the operation. */
  permission?: string;
  /** Whether the operation names a location, so that a location outside the scope is answered with NOT_FOUND. */
  location?: boolean;
  rest: { method: string; path: string; body?: unknown };
  graph: { query: string; variables?: Record<string, unknown> };
}

/** The status, code and message of an error on REST or GraphQL. */
export interface Failure {
  status: number;
  code: string | undefined;
  message: string | undefined;
  details: Record<string, unknown> | undefined;
  headers: Headers;
}

/** The two ways to call an operation, which return errors in the same form. */
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

/** The name of a surface: REST or GraphQL. */
export type SurfaceName = keyof typeof surfaces;
export const surfaceNames = Object.keys(surfaces) as SurfaceName[];
