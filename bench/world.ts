// The content of the seeded database. Ids are computed from positions, so that a load process needs no list of ids.

/** The seeded data that load processes need, as plain JSON. */
export interface World {
  /** The secrets of the keys of the 100 main locations. */
  secrets: string[];
  /** The secret of the key of the large locations. */
  bulkSecret: string;
  /** The secret of a key that may make one request in each window. */
  refusedSecret: string;
  /** The secret of a key that may make `exactLimit` requests in each window. */
  exactSecret: string;
  /** A well-formed secret without a key. */
  unknownSecret: string;
}

/**
 * The number of locations of all main companies together. `entriesPerLocation` is the number of entries of each
 * location.
 */
export const mainLocations = 100;
export const entriesPerLocation = 1000;
export const companies = 10;
/** The number of entries with the same referenceId. */
export const entriesPerReference = 10;
/** The number of requests that a window of `exactSecret` allows. */
export const exactLimit = 200;

/**
 * The positions of the large locations, which come after the main locations. The large locations belong to another
 * company.
 */
export const bulkLocations = { hundredThousand: 100, import: 101, million: 102 } as const;

const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');

export const companyId = (position: number) => `01900000-0001-7000-8000-${hex(position, 12)}`;
export const locationId = (position: number) => `01900000-0002-7000-8000-${hex(position, 12)}`;
export const entryId = (location: number, entry: number) =>
  `01900000-0003-7000-8${hex(location, 3)}-${hex(entry, 12)}`;

export const plateTypes = ['DXB', 'AUH', 'SHJ', 'AJM'] as const;

/** Returns the referenceId of a seeded entry. */
export const referenceId = (entry: number, entries = entriesPerLocation) =>
  `unit-${String(entry % (entries / entriesPerReference)).padStart(6, '0')}`;

/** Returns the plate of a seeded entry. */
export const plateOf = (entry: number) => ({
  plateType: plateTypes[entry % plateTypes.length]!,
  plateCode: 'A',
  plateNumber: String(entry + 1),
});

/** The referenceId of all entries that a case adds, which are removed after the case. */
export const createdReference = 'bench-created';
