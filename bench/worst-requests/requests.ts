import type { WorstWorld } from './seed.ts';

// The types of attacks, and functions that build their requests.

/** A request of an attack. A body may be bytes that are not valid text. */
export interface AttackRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** A kind of request, as expensive as the limits allow. */
export interface Attack {
  name: string;
  /** Builds the requests that are sent in a cycle. */
  build(world: WorstWorld): AttackRequest[];
  /** With `nothing`, the client does not read successful responses and keeps them open. */
  reads: 'everything' | 'nothing';
}

export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Repeats a field under different aliases. */
export const aliases = (count: number, field: (index: number) => string) =>
  times(count, (index) => `a${index}: ${field(index)}`).join(' ');

/** A GraphQL request with a raw body. */
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

/** All scalar fields of an entry. */
export const entryFields =
  'id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil version createdAt updatedAt';
