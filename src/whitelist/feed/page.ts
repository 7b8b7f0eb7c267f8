import type { WhitelistEntry } from '../../../prisma/generated/client/client.ts';
import type { Plate } from '../plate.ts';

/** A removed whitelist entry, with its id and its plate. */
export type WhitelistRemoval = Plate & { id: string };

/** A page of the feed. A client must apply the removals before the upserts. */
export interface WhitelistChanges {
  /** New and changed entries, as they are now. */
  upserts: WhitelistEntry[];
  removals: WhitelistRemoval[];
  /** The cursor with which the client gets the next page or later changes. */
  cursor: string;
  /** Whether there are more changes that the client can read now. */
  hasMore: boolean;
  /** Whether this page is the start of the whole list. The client must then discard its copy of the list. */
  reset: boolean;
  /** The time zone of the location, to which the weekly hours of the entries refer. */
  timezone: string;
}

/** The maximum number of changes that are read in one step. Other requests can run between two steps. */
const partSize = 500;

/** After this number of characters, a page ends. A response with the page then fits into the maximum response size. */
const maxPageCharacters = 1_500_000;

/**
 * Reads one part of a page, starting after a cursor, or at the start of the whole list if there is no cursor. The part
 * has fewer than `size` changes only if there are no more changes.
 */
type ReadPart = (after: string | null | undefined, size: number) => Promise<WhitelistChanges>;

/**
 * Reads a page in several parts. The page has fewer than `size` changes if their texts are long.
 *
 * @param size the maximum number of changes
 */
export async function readInParts(
  after: string | null | undefined,
  size: number,
  readPart: ReadPart,
): Promise<WhitelistChanges> {
  let page = await readPart(after, Math.min(size, partSize));
  let characters = charactersOf(page.upserts);
  for (let left = size - partSize; page.hasMore && left > 0; left -= partSize) {
    if (characters >= maxPageCharacters) break;
    const part = await readPart(page.cursor, Math.min(left, partSize));
    // This part starts the whole list again, so it can only be the start of a new page.
    if (part.reset) break;
    page = joined(page, part);
    characters += charactersOf(part.upserts);
  }
  return page;
}

/**
 * An estimate of the length of an entry in JSON without its free texts, in characters. It covers the field names and
 * the other values.
 */
const otherCharactersOfEntry = 300;

const charactersOf = (entries: readonly WhitelistEntry[]) =>
  entries.reduce(
    (total, { referenceId, vehicleType, note }) =>
      total + otherCharactersOfEntry + referenceId.length + (vehicleType?.length ?? 0) + (note?.length ?? 0),
    0,
  );

/**
 * Appends a part to a page. If both contain the same entry, the newer change from the part replaces the change on the
 * page.
 */
function joined(page: WhitelistChanges, part: WhitelistChanges): WhitelistChanges {
  const told = new Set([...part.upserts, ...part.removals].map(({ id }) => id));
  const isLast = ({ id }: { id: string }) => !told.has(id);
  return {
    upserts: [...page.upserts.filter(isLast), ...part.upserts],
    removals: [...page.removals.filter(isLast), ...part.removals],
    cursor: part.cursor,
    hasMore: part.hasMore,
    reset: page.reset,
    timezone: part.timezone,
  };
}
