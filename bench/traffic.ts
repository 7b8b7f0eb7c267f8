import {
  bulkLocations,
  createdReference,
  entriesPerLocation,
  entryId,
  locationId,
  mainLocations,
  plateOf,
  referenceId,
  type World,
} from './world.ts';

// This file builds the requests that the benchmark cases send to the gateway and to other servers (peers).

/** A server that a benchmark case measures: the gateway, or a server with which the gateway is compared (a peer). */
export type Side = 'gateway' | PeerName;
export type PeerName = keyof typeof peerNames;

/**
 * Maps each peer (a server with which the benchmark compares the gateway) to the name of the peer in the benchmark's
 * report.
 */
export const peerNames = {
  'hand-written': 'hand-written',
  postgraphile: 'PostGraphile',
  sofa: 'SOFA',
  'node-http-401': 'raw node:http',
  'node-http-429': 'raw node:http',
} as const;

/** A request in the form that the load generator autocannon expects. */
export interface RequestSpec {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/**
 * A function that builds the `n`-th request of a measurement. For each request number `n`, the gateway and its peers
 * get equivalent requests. The peers are the servers with which the benchmark compares the gateway.
 */
type Build = (world: World, n: number) => RequestSpec;

/**
 * The functions that build one kind of request: one function for the gateway, and one for each server with which the
 * gateway is compared (a peer).
 */
interface Traffic {
  sides: Partial<Record<Side, Build>>;
  /**
   * True if the benchmark must not send the same request twice, for example because the request creates a whitelist
   * entry.
   */
  fresh?: boolean;
}

/** Maps a number to a pseudo-random number below `size`. The same arguments always give the same result. */
const spread = (n: number, size: number) => Math.floor((((n + 1) * 0.618_033_988_749_895) % 1) * size);
const someLocation = (n: number) => spread(n, mainLocations);
const someEntry = (n: number) => spread(n * 7 + 3, entriesPerLocation);
const secretOf = (world: World, n: number) => world.secrets[n % world.secrets.length]!;

const get = (secret: string, path: string): RequestSpec => ({
  method: 'GET',
  path,
  headers: { 'X-API-Key': secret },
});
const send = (method: 'POST' | 'PUT', secret: string, path: string, body: unknown): RequestSpec => ({
  method,
  path,
  headers: { 'X-API-Key': secret, 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
const ask = (secret: string, query: string, variables: unknown) =>
  send('POST', secret, '/graphql', { query, variables });

const gateQuestion = `query Gate($locationId: ID!, $plate: PlateInput!) {
  plateAccess(locationId: $locationId, plate: $plate) {
    allowed reason
    entry { id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil createdAt updatedAt }
  }
}`;
const readingQuestion = gateQuestion
  .replace('$plate: PlateInput!', '$reading: ReadingInput!')
  .replace('plate: $plate', 'reading: $reading');
const nestedFields = (id: string, location: string, company: string) => `nodes {
    ${id} referenceId plateType plateCode plateNumber vehicleType validFrom validUntil
    location${location} { ${id} name slug company${company} { ${id} name slug } }
  }`;
const nestedList = `query List($locationId: ID!, $referenceId: String) {
  whitelist(locationId: $locationId, referenceId: $referenceId, first: 10) { ${nestedFields('id', '', '')} }
}`;
const nestedListOfPostGraphile = `query List($locationId: String!, $referenceId: String) {
  whitelist: allWhitelistEntries(condition: { locationId: $locationId, referenceId: $referenceId }, first: 10) {
    ${nestedFields('id: rowId', ': locationByLocationId', ': companyByCompanyId')}
  }
}`;
const createMutation = `mutation Create($locationId: ID!, $input: WhitelistEntryInput!) {
  createWhitelistEntry(locationId: $locationId, input: $input) {
    id locationId referenceId plateType plateCode plateNumber vehicleType note validFrom validUntil createdAt updatedAt
  }
}`;

const newEntry = (n: number) => ({
  referenceId: createdReference,
  plateType: 'RAK',
  plateCode: 'Z',
  plateNumber: String(n),
  vehicleType: 'suv',
  note: 'benchmark',
  validFrom: '2026-01-01T00:00:00Z',
});

const whitelistPath = (position: number) => `/api/locations/${locationId(position)}/whitelist`;
const filtered = (position: number, reference: string) =>
  `${whitelistPath(position)}?referenceId=${reference}`;

const restList: Build = (world, n) =>
  get(secretOf(world, n), filtered(someLocation(n), referenceId(someEntry(n))));
const restCreate: Build = (world, n) =>
  send('POST', secretOf(world, n), whitelistPath(someLocation(n)), newEntry(n));
const restUpdate: Build = (world, n) => {
  const [location, entry] = [someLocation(n), someEntry(n)];
  return send('PUT', secretOf(world, n), `${whitelistPath(location)}/${entryId(location, entry)}`, {
    referenceId: referenceId(entry),
    ...plateOf(entry),
    vehicleType: 'sedan',
    note: `update ${n}`,
  });
};

/** Builds requests that each remove one of the 100,000 whitelist entries of a large location. */
const restRemove: Build = ({ bulkSecret }, n) => ({
  ...get(
    bulkSecret,
    `${whitelistPath(bulkLocations.hundredThousand)}/${entryId(bulkLocations.hundredThousand, n)}`,
  ),
  method: 'DELETE',
});

/**
 * Returns the licence plate in the `n`-th request for a gate decision. If `n` is odd, the whitelist of the location
 * contains this plate. If `n` is even, the whitelist does not contain the plate.
 */
const gatePlate = (n: number) => ({ ...plateOf(someEntry(n)), plateCode: n % 2 ? 'A' : 'B' });
const gateAt =
  (secret: (world: World, n: number) => string, location: (n: number) => number): Build =>
  (world, n) =>
    ask(secret(world, n), gateQuestion, { locationId: locationId(location(n)), plate: gatePlate(n) });
const gate = gateAt(secretOf, someLocation);
/** Builds a request for a gate decision. The request contains a camera text instead of a plate. */
const gateReading: Build = (world, n) => {
  const { plateType, plateCode, plateNumber } = gatePlate(n);
  return ask(secretOf(world, n), readingQuestion, {
    locationId: locationId(someLocation(n)),
    reading: { text: `${plateType} ${plateCode} ${plateNumber}` },
  });
};
const gateOverRest: Build = (world, n) =>
  get(
    secretOf(world, n),
    `/api/locations/${locationId(someLocation(n))}/access?${new URLSearchParams(gatePlate(n))}`,
  );

const mixed =
  (gateBuild: Build): Build =>
  (world, n) => {
    const share = spread(n, 100);
    if (share < 70) return gateBuild(world, n);
    return share < 95 ? restList(world, n) : restCreate(world, n);
  };

/**
 * The number of different IP addresses in the requests with invalid API keys. The requests come from 1,000 addresses,
 * so that no address exceeds the rate limit for client addresses.
 */
const strangers = 1000;
const badKey: Build = (world, n) => {
  const request = get(n % 2 ? world.unknownSecret : 'pms_test_mistyped', whitelistPath(0));
  const [high, low] = [Math.floor((n % strangers) / 250), n % 250];
  return { ...request, headers: { ...request.headers, 'X-Forwarded-For': `198.51.${high}.${low}` } };
};
const overLimit: Build = (world) => get(world.refusedSecret, whitelistPath(0));

const bothSides = (build: Build) => ({ gateway: build, 'hand-written': build });
const bulk = (world: World) => world.bulkSecret;

const traffics: Record<string, Traffic> = {
  'rest-list': {
    sides: {
      ...bothSides(restList),
      sofa: (world, n) =>
        get(
          secretOf(world, n),
          `/api/whitelist?locationId=${locationId(someLocation(n))}&referenceId=${referenceId(someEntry(n))}&first=100`,
        ),
    },
  },
  'rest-create': { sides: bothSides(restCreate), fresh: true },
  'rest-update': { sides: bothSides(restUpdate), fresh: true },
  'rest-remove': { sides: { gateway: restRemove }, fresh: true },
  'rest-status': {
    sides: bothSides((world, n) => get(secretOf(world, n), '/api/locations/status')),
  },
  'graphql-list': {
    sides: {
      gateway: (world, n) =>
        ask(secretOf(world, n), nestedList, {
          locationId: locationId(someLocation(n)),
          referenceId: referenceId(someEntry(n)),
        }),
      postgraphile: (world, n) =>
        ask(secretOf(world, n), nestedListOfPostGraphile, {
          locationId: locationId(someLocation(n)),
          referenceId: referenceId(someEntry(n)),
        }),
    },
  },
  'graphql-create': {
    sides: {
      gateway: (world, n) =>
        ask(secretOf(world, n), createMutation, {
          locationId: locationId(someLocation(n)),
          input: newEntry(n),
        }),
      'hand-written': restCreate,
    },
    fresh: true,
  },
  gate: { sides: { gateway: gate, 'hand-written': gateOverRest } },
  'gate-reading': { sides: { gateway: gateReading, 'hand-written': gateOverRest } },
  'list-1000': {
    sides: bothSides((world, n) => get(secretOf(world, n), whitelistPath(someLocation(n)))),
  },
  mixed: { sides: { gateway: mixed(gate), 'hand-written': mixed(gateOverRest) }, fresh: true },
  'bad-key': { sides: { gateway: badKey, 'node-http-401': badKey } },
  'over-limit': { sides: { gateway: overLimit, 'node-http-429': overLimit } },
  'gate-at-1000': { sides: { gateway: gateAt(secretOf, () => 0) } },
  'gate-at-1000000': { sides: { gateway: gateAt(bulk, () => bulkLocations.million) } },
  'list-at-1000': {
    sides: { gateway: (world, n) => get(secretOf(world, n), filtered(0, referenceId(someEntry(n)))) },
  },
  'list-at-1000000': {
    sides: {
      gateway: (world, n) =>
        get(world.bulkSecret, filtered(bulkLocations.million, referenceId(spread(n, 100_000), 1_000_000))),
    },
  },
  exact: { sides: { gateway: (world) => get(world.exactSecret, '/api/health') } },
};

/**
 * Returns the function `build`, which builds requests of one kind for one server: the gateway, or a server with which
 * the gateway is compared (a peer).
 */
export function trafficOf(
  name: string,
  side: Side,
  world: World,
): { build: (n: number) => RequestSpec; fresh: boolean } {
  const traffic = traffics[name];
  const build = traffic?.sides[side];
  if (!build) throw new Error(`There is no traffic ${name} for ${side}`);
  return { build: (n) => build(world, n), fresh: traffic.fresh ?? false };
}
