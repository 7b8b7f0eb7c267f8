// This file describes the seed data in the database of a benchmark. The identifier of each seeded object is computed
// from the number of the object, so the benchmark needs no list of identifiers.

/**
 * The API keys for the requests of the benchmark. The benchmark passes these API keys as JSON to the load process,
 * which sends the requests.
 */
export interface World {
  /**
   * The secrets of ten API keys. Each of these ten API keys has all main locations (see `mainLocations`) in its scope.
   */
  secrets: string[];
  /** The secret of the API key whose scope contains the large locations (see `bulkLocations`). */
  bulkSecret: string;
  /** The secret of an API key whose rate limits allow one request in each time window. */
  refusedSecret: string;
  /** The secret of an API key whose rate limits allow `exactLimit` requests in each time window. */
  exactSecret: string;
  /** A secret that has the right form but belongs to no API key. */
  unknownSecret: string;
}

/**
 * The benchmark data contains many main locations with small whitelists, and a few large locations for imports and
 * large whitelists. `mainLocations` is the number of main locations, and `entriesPerLocation` is the number of
 * whitelist entries of each main location.
 */
export const mainLocations = 100;
export const entriesPerLocation = 1000;
export const companies = 10;
/** The number of whitelist entries with the same reference id in each main location. */
export const entriesPerReference = 10;
/** The number of requests that a client may send with the API key `exactSecret` in each rate limit window. */
export const exactLimit = 200;

/**
 * The position of each large location in the list of all locations. The benchmark computes the id of a location from
 * the position of this location in the list of all locations. The positions of the large locations follow the positions
 * of the main locations. The large locations belong to a separate company.
 */
export const bulkLocations = { hundredThousand: 100, import: 101, million: 102 } as const;

const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');

export const companyId = (position: number) => `01900000-0001-7000-8000-${hex(position, 12)}`;
export const locationId = (position: number) => `01900000-0002-7000-8000-${hex(position, 12)}`;
export const entryId = (location: number, entry: number) =>
  `01900000-0003-7000-8${hex(location, 3)}-${hex(entry, 12)}`;

export const plateTypes = ['DXB', 'AUH', 'SHJ', 'AJM'] as const;

/** Returns the reference id of the seeded whitelist entry with a given number. */
export const referenceId = (entry: number, entries = entriesPerLocation) =>
  `unit-${String(entry % (entries / entriesPerReference)).padStart(6, '0')}`;

/** Returns the plate of the seeded whitelist entry with a given number. */
export const plateOf = (entry: number) => ({
  plateType: plateTypes[entry % plateTypes.length]!,
  plateCode: 'A',
  plateNumber: String(entry + 1),
});

/**
 * The reference id of all whitelist entries that a benchmark case adds. At the end of the benchmark case, the benchmark
 * removes all whitelist entries with this reference id.
 */
export const createdReference = 'bench-created';
