import type { WhitelistEntry } from '../../../prisma/generated/client/client.ts';
import type { Plate } from '../plate.ts';

/** An entry that is no longer in the whitelist. */
export type WhitelistRemoval = Plate & { id: string };

/** A page of the feed. Clients apply the removals before the upserts. */
export interface WhitelistChanges {
  /** New and changed entries in their current state. */
  upserts: WhitelistEntry[];
  removals: WhitelistRemoval[];
  /** The cursor for the next page, or for later changes. */
  cursor: string;
  /** Whether another page is available now. */
  hasMore: boolean;
  /** Whether the client must discard its copy, because this page is the start of the whole list. */
  reset: boolean;
  /** The time zone of the location, in which the hours of entries apply. */
  timezone: string;
}

/** The number of changes in one part of a page. Between parts, other requests can run. */
const partSize = 500;

/** A page ends after this many characters of text, so that it fits into the maximum response size. */
const maxPageCharacters = 1_500_000;

/**
 * Reads one part of a page. It returns exactly `size` changes if there are enough. It starts at a cursor, or at the
 * start of the whole list without one.
 */
type ReadPart = (after: string | null | undefined, size: number) => Promise<WhitelistChanges>;

/**
 * Reads a page in parts. The page ends before `size` when its texts are long.
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
    // The whole list starts again, so it belongs to the next page.
    if (part.reset) break;
    page = joined(page, part);
    characters += charactersOf(part.upserts);
  }
  return page;
}

/** The characters of an entry in JSON without its free texts: field names and the other values. */
const otherCharactersOfEntry = 300;

const charactersOf = (entries: readonly WhitelistEntry[]) =>
  entries.reduce(
    (total, { referenceId, vehicleType, note }) =>
      total + otherCharactersOfEntry + referenceId.length + (vehicleType?.length ?? 0) + (note?.length ?? 0),
    0,
  );

/** Appends a part to a page. The part is newer and replaces earlier changes of the same entries. */
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
