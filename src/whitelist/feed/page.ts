import type { WhitelistEntry } from '../../../prisma/generated/client/client.ts';
import type { Plate } from '../plate.ts';

/** A removed whitelist entry, with its id and its plate. */
export type WhitelistRemoval = Plate & { id: string };

/**
 * One page of the changes to a whitelist (a page of the whitelist feed). A client must apply `removals` before
 * `upserts` (the new and changed whitelist entries).
 */
export interface WhitelistChanges {
  /** The new and changed whitelist entries, each with its current values. */
  upserts: WhitelistEntry[];
  removals: WhitelistRemoval[];
  /**
   * The cursor that marks the end of this page in the whitelist feed (the list of whitelist changes). The client sends
   * this cursor with its next request for whitelist changes.
   */
  cursor: string;
  /** Whether another page exists. If `hasMore` is true, the client can request the next page immediately. */
  hasMore: boolean;
  /**
   * True if the gateway cannot continue from the client's cursor. If `reset` is true, the page is the first page of the
   * whole whitelist, and the client must discard its copy of the whitelist.
   */
  reset: boolean;
  /** The time zone of the location. The weekly hours of the whitelist entries are local times in this time zone. */
  timezone: string;
}

/**
 * The gateway reads a page of the whitelist feed in parts of at most `partSize` changes, so that the process can answer
 * other requests between two parts.
 */
const partSize = 500;

/**
 * When a page of the whitelist feed has `maxPageCharacters` characters or more, the gateway adds no further changes to
 * the page. The response with this page therefore stays below the maximum response size.
 */
const maxPageCharacters = 1_500_000;

/**
 * Reads a part of the whitelist changes on one page of the whitelist feed. The part starts after the position that the
 * cursor `after` contains. Without a cursor, the part starts with the first whitelist entry.
 */
type ReadPart = (after: string | null | undefined, size: number) => Promise<WhitelistChanges>;

/**
 * Reads one page of whitelist changes in several smaller parts. The page can have fewer than `size` changes if its
 * whitelist entries contain long texts or many weekly hours.
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
    // If `part.reset` is true, the feed has started again from the first whitelist entry, so `part` must not be
    // appended to `page`. The page therefore ends before `part`.
    if (part.reset) break;
    page = joined(page, part);
    characters += charactersOf(part.upserts);
  }
  return page;
}

/**
 * The estimated number of characters of a whitelist entry in JSON, not counting its texts and its weekly hours. To this
 * estimate, the function `charactersOf` adds the exact length of the texts and weekly hours of each whitelist entry.
 */
const otherCharactersOfEntry = 300;

const charactersOf = (entries: readonly WhitelistEntry[]) =>
  entries.reduce(
    (total, { referenceId, vehicleType, note, hours }) =>
      total + otherCharactersOfEntry + JSON.stringify([referenceId, vehicleType, note, hours]).length,
    0,
  );

/**
 * Appends the whitelist changes in `part` to the whitelist changes in `page`. A change in `part` replaces an older
 * change of the same whitelist entry in `page`.
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
