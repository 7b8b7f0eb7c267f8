import type { WorstWorld } from './seed.ts';

// This file contains the types of attacks, and functions that build their requests.

/** A request of an attack. Its body may be bytes that are not valid text. */
export interface AttackRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** A kind of request that is as expensive as the limits allow. */
export interface Attack {
  name: string;
  /** Builds the requests that are sent in a cycle. */
  build(world: WorstWorld): AttackRequest[];
  /**
   * How much of successful responses the client reads. With `nothing`, the client does not read the responses and keeps
   * them open.
   */
  reads: 'everything' | 'nothing';
}

export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Repeats a field under different aliases. */
export const aliases = (count: number, field: (index: number) => string) =>
  times(count, (index) => `a${index}: ${field(index)}`).join(' ');

/** Returns a GraphQL request with the given body, which need not be valid. */
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

/** All scalar fields of a whitelist entry, as a selection. */
export const entryFields =
  'id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil version createdAt updatedAt';
