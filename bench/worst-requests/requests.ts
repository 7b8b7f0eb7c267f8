import type { WorstWorld } from './seed.ts';

// What attacks are made of.

/** A request of an attack; a body may be bytes that are no text. */
export interface AttackRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/** One kind of request that is made as expensive as its limits allow. */
export interface Attack {
  name: string;
  /** The requests that are sent in turn, again and again. */
  build(world: WorstWorld): AttackRequest[];
  /** `nothing`: the client leaves answers of 200 unread, and subscriptions open. */
  reads: 'everything' | 'nothing';
}

export const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A field under many aliases. */
export const aliases = (count: number, field: (index: number) => string) =>
  times(count, (index) => `a${index}: ${field(index)}`).join(' ');

/** A request to the graph whose body is a text or bytes. */
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

/** Every plain field of an entry. */
export const entryFields =
  'id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil version createdAt updatedAt';
