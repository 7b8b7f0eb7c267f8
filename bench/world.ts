// Describes the data in the database of a benchmark. Identifiers are computed from positions, so that the process that
// sends requests needs no list of identifiers.

/** The data that the process with the requests needs, as plain JSON. */
export interface World {
  /** The secrets of the API keys of the 100 main locations. Each location has one key. */
  secrets: string[];
  /** The secret of the API key for the large locations. */
  bulkSecret: string;
  /** The secret of an API key that allows one request in each rate limit window. */
  refusedSecret: string;
  /** The secret of an API key that allows `exactLimit` requests in each rate limit window. */
  exactSecret: string;
  /** A secret of the right form that belongs to no API key. */
  unknownSecret: string;
}

/** The number of main locations. `entriesPerLocation` is the number of entries in each of them. */
export const mainLocations = 100;
export const entriesPerLocation = 1000;
export const companies = 10;
/** The number of entries that have the same reference. */
export const entriesPerReference = 10;
/** The number of requests that the API key of `exactSecret` allows in each rate limit window. */
export const exactLimit = 200;

/** The positions of the large locations, which come after the main locations and belong to another company. */
export const bulkLocations = { hundredThousand: 100, import: 101, million: 102 } as const;

const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');

export const companyId = (position: number) => `01900000-0001-7000-8000-${hex(position, 12)}`;
export const locationId = (position: number) => `01900000-0002-7000-8000-${hex(position, 12)}`;
export const entryId = (location: number, entry: number) =>
  `01900000-0003-7000-8${hex(location, 3)}-${hex(entry, 12)}`;

export const plateTypes = ['DXB', 'AUH', 'SHJ', 'AJM'] as const;

/** Returns the reference of a seeded entry. */
export const referenceId = (entry: number, entries = entriesPerLocation) =>
  `unit-${String(entry % (entries / entriesPerReference)).padStart(6, '0')}`;

/** Returns the plate of a seeded entry. */
export const plateOf = (entry: number) => ({
  plateType: plateTypes[entry % plateTypes.length]!,
  plateCode: 'A',
  plateNumber: String(entry + 1),
});

/** The reference of all entries that a case adds. They are removed after the case. */
export const createdReference = 'bench-created';
