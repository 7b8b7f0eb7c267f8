import type { WorstWorld } from './seed.ts';

// This file defines the types for kinds of expensive requests (attacks), and functions that build the requests.

/** A single expensive request. The body of an expensive request can consist of bytes that are not valid text. */
export interface AttackRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/**
 * A kind of expensive request. The limits of the gateway bound the cost of one request, and each request of an attack
 * is about as expensive as these limits allow.
 */
export interface Attack {
  name: string;
  /**
   * Builds the list of expensive requests with which the benchmark attacks the gateway. All expensive requests in this
   * list are of the same kind. The benchmark sends the requests in the order of the list, and starts again with the
   * first request after the last one.
   */
  build(world: WorstWorld): AttackRequest[];
  /**
   * How the attacking client handles successful responses. If `reads` is `everything`, the client reads each successful
   * response to the end. If `reads` is `nothing`, the client does not read successful responses and keeps the
   * connections open.
   */
  reads: 'everything' | 'nothing';
}

export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Returns a GraphQL selection that contains the same field many times, each time with another alias. */
export const aliases = (count: number, field: (index: number) => string) =>
  times(count, (index) => `a${index}: ${field(index)}`).join(' ');

/** Returns a request to the GraphQL endpoint with a given body, which may be invalid. */
export const post = ({ spenderSecret }: WorstWorld, body: string | Buffer): AttackRequest => ({
  method: 'POST',
  path: '/graphql',
  headers: {
    'X-API-Key': spenderSecret,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
  },
  body,
});

export const ask = (world: WorstWorld, query: string, variables: unknown = {}): AttackRequest =>
  post(world, JSON.stringify({ query, variables }));

export const get = ({ spenderSecret }: WorstWorld, path: string): AttackRequest => ({
  method: 'GET',
  path,
  headers: { 'X-API-Key': spenderSecret },
});

/** A GraphQL selection of all scalar fields of a whitelist entry. */
export const entryFields =
  'id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil version createdAt updatedAt';
