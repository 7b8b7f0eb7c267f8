import type { WhitelistEntry } from '../../prisma/generated/client/client.ts';
import type { Plate } from './plate.ts';

/** An entry that is no longer in the whitelist. */
export type WhitelistRemoval = Plate & { id: string };

/** A page of the feed. Removals are to be applied before upserts. */
export interface WhitelistChanges {
  /** Entries that are new or changed, as they are now. */
  upserts: WhitelistEntry[];
  removals: WhitelistRemoval[];
  /** Where to go on: with the next page, or later with what will have changed. */
  cursor: string;
  /** Whether there is more at once. */
  hasMore: boolean;
  /** Whether the client has to forget what it has: this page starts the whole list again. */
  reset: boolean;
  /** The time zone of the location, by whose clocks hours count. */
  timezone: string;
}

/** Changes that are read at once: other requests have their turn between the parts of a page. */
const partSize = 500;

/** Characters of texts after which a page ends, however many changes were asked for: with them it fits into an answer. */
const maxPageCharacters = 1_500_000;

/**
 * Reads at most so many changes from a cursor on, and exactly so many when there are more; from the start of the whole
 * list without a cursor.
 */
type ReadPart = (after: string | null | undefined, size: number) => Promise<WhitelistChanges>;

/**
 * Reads a page in parts. It ends earlier than asked for when its texts are long.
 *
 * @param size how many changes at most
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
    // The whole list starts again: with the next page.
    if (part.reset) break;
    page = joined(page, part);
    characters += charactersOf(part.upserts);
  }
  return page;
}

/** Characters of an entry beside its free texts, with the names of its fields. */
const otherCharactersOfEntry = 300;

const charactersOf = (entries: readonly WhitelistEntry[]) =>
  entries.reduce(
    (total, { referenceId, vehicleType, note }) =>
      total + otherCharactersOfEntry + referenceId.length + (vehicleType?.length ?? 0) + (note?.length ?? 0),
    0,
  );

/** A page with its next part. What the part tells of an entry is newer. */
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
