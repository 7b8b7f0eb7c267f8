import type { Answer, TestGateway } from './harness.ts';

/** What a case of both surfaces calls: one documented endpoint, and the graph operation that is the same. */
export interface Operation {
  name: string;
  /** The permission that it needs; none for what any key may do. */
  permission?: string;
  /** Whether it names a location, so that foreign scope answers NOT_FOUND. */
  location?: boolean;
  rest: { method: string; path: string; body?: unknown };
  graph: { query: string; variables?: Record<string, unknown> };
}

/** How a surface says that something went wrong. */
export interface Failure {
  status: number;
  code: string | undefined;
  message: string | undefined;
  details: Record<string, unknown> | undefined;
  headers: Headers;
}

/** The two ways to call an operation, with their errors brought to one form. */
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

/** The name of a surface. */
export type SurfaceName = keyof typeof surfaces;
export const surfaceNames = Object.keys(surfaces) as SurfaceName[];
