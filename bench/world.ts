// What the seeded database holds. Ids follow from positions, so that a load process needs no list of them.

/** The seeded world, as plain data: it travels to the load processes. */
export interface World {
  /** Keys that reach the 100 main locations. */
  secrets: string[];
  /** A key that reaches the large locations. */
  bulkSecret: string;
  /** A key with one request in each window. */
  refusedSecret: string;
  /** A key with `exactLimit` requests in each window. */
  exactSecret: string;
  /** A key as it should be, that nobody has. */
  unknownSecret: string;
}

/** How many locations the main companies have together, and how many entries each. */
export const mainLocations = 100;
export const entriesPerLocation = 1000;
export const companies = 10;
/** How many entries share a referenceId. */
export const entriesPerReference = 10;
/** How many requests a window of `exactSecret` allows. */
export const exactLimit = 200;

/** Locations of the company that holds what is large; their positions follow those of the main ones. */
export const bulkLocations = { hundredThousand: 100, import: 101, million: 102 } as const;

const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');

export const companyId = (position: number) => `01900000-0001-7000-8000-${hex(position, 12)}`;
export const locationId = (position: number) => `01900000-0002-7000-8000-${hex(position, 12)}`;
export const entryId = (location: number, entry: number) =>
  `01900000-0003-7000-8${hex(location, 3)}-${hex(entry, 12)}`;

export const plateTypes = ['DXB', 'AUH', 'SHJ', 'AJM'] as const;

/** The referenceId of an entry, as the seed writes it. */
export const referenceId = (entry: number, entries = entriesPerLocation) =>
  `unit-${String(entry % (entries / entriesPerReference)).padStart(6, '0')}`;

/** The plate of an entry, as the seed writes it. */
export const plateOf = (entry: number) => ({
  plateType: plateTypes[entry % plateTypes.length]!,
  plateCode: 'A',
  plateNumber: String(entry + 1),
});

/** The referenceId of everything that a case adds: removed again after the case. */
export const createdReference = 'bench-created';
