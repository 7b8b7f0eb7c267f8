import type { WorstWorld } from './seed.ts';

// This file defines the types for kinds of expensive requests (attacks), and functions that build the requests.

/** A single expensive request. Its body can be bytes that are not valid text. */
export interface AttackRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** A kind of request that costs the gateway as much as the limits allow. */
export interface Attack {
  name: string;
  /** Builds the requests of this kind. They are sent in their order, again and again. */
  build(world: WorstWorld): AttackRequest[];
  /**
   * Whether the client reads successful responses. With `nothing`, the client leaves the responses unread and keeps
   * their connections open.
   */
  reads: 'everything' | 'nothing';
}

export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Returns the same field many times, each time with another alias. */
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
