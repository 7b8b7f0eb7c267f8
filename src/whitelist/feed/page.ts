import type { WhitelistEntry } from '../../../prisma/generated/client/client.ts';
import type { Plate } from '../plate.ts';

/** A whitelist entry that was removed: its id and its plate. */
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
  /** The time zone of the location. The hours of entries apply in this time zone. */
  timezone: string;
}

/** The maximum number of changes in one part of a page. Between two parts, other requests can run. */
const partSize = 500;

/** The number of characters of text after which a page ends, so that the page fits into the maximum response size. */
const maxPageCharacters = 1_500_000;

/**
 * Reads one part of a page. The part has exactly `size` changes if there are enough changes. It starts at a cursor, or
 * without a cursor at the start of the whole list.
 */
type ReadPart = (after: string | null | undefined, size: number) => Promise<WhitelistChanges>;

/**
 * Reads a page in parts. If the texts of the changes are long, the page ends before it has `size` changes.
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
    // This part starts the whole list again, so it must be the start of the next page.
    if (part.reset) break;
    page = joined(page, part);
    characters += charactersOf(part.upserts);
  }
  return page;
}

/**
 * An estimate of the characters of an entry in JSON without its free texts. It covers the field names and the other
 * values.
 */
const otherCharactersOfEntry = 300;

const charactersOf = (entries: readonly WhitelistEntry[]) =>
  entries.reduce(
    (total, { referenceId, vehicleType, note }) =>
      total + otherCharactersOfEntry + referenceId.length + (vehicleType?.length ?? 0) + (note?.length ?? 0),
    0,
  );

/** Appends a part to a page. The changes of the part are newer and replace earlier changes of the same entries. */
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
