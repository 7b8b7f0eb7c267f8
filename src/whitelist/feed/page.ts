import type { WhitelistEntry } from '../../../prisma/generated/client/client.ts';
import type { Plate } from '../plate.ts';

/** A removed whitelist entry, with its id and its plate. */
export type WhitelistRemoval = Plate & { id: string };

/**
 * A page of the whitelist feed. A client must apply `removals` before `upserts` (the new and changed whitelist
 * entries).
 */
export interface WhitelistChanges {
  /** The new and changed whitelist entries, with their current values. */
  upserts: WhitelistEntry[];
  removals: WhitelistRemoval[];
  /** The cursor with which the client requests the next page or later changes. */
  cursor: string;
  /** Whether another page exists. If `hasMore` is true, the client can request the next page immediately. */
  hasMore: boolean;
  /**
   * Whether the feed starts again with the first page of the whole whitelist, because the client cannot continue from
   * its cursor. When `reset` is true, the client must discard its copy of the whitelist.
   */
  reset: boolean;
  /** The time zone of the location, which applies to the weekly hours of its whitelist entries. */
  timezone: string;
}

/**
 * The maximum number of whitelist changes in one part of a feed page. Between two parts of a page, the process can
 * answer other requests.
 */
const partSize = 500;

/**
 * The number of characters after which a page of the whitelist feed ends, so that a response with one page stays below
 * the maximum response size.
 */
const maxPageCharacters = 1_500_000;

/**
 * Reads one part of a page of the whitelist feed. The part of the page starts after the cursor `after`, or at the first
 * entry of the whole whitelist if `after` is omitted.
 */
type ReadPart = (after: string | null | undefined, size: number) => Promise<WhitelistChanges>;

/**
 * Reads one page of the whitelist feed in several smaller parts. When whitelist entries contain long texts or many
 * weekly hours, the page has fewer than `size` changes.
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
    // If `part.reset` is true, `part` is the beginning of the whole list, and must not be appended to the page.
    if (part.reset) break;
    page = joined(page, part);
    characters += charactersOf(part.upserts);
  }
  return page;
}

/** The estimated number of characters of a whitelist entry in JSON, without its free texts and its weekly hours. */
const otherCharactersOfEntry = 300;

const charactersOf = (entries: readonly WhitelistEntry[]) =>
  entries.reduce(
    (total, { referenceId, vehicleType, note, hours }) =>
      total + otherCharactersOfEntry + JSON.stringify([referenceId, vehicleType, note, hours]).length,
    0,
  );

/**
 * Appends the next changes (`part`) to a page of the whitelist feed. A change in `part` replaces an older change of the
 * same whitelist entry in `page`.
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
