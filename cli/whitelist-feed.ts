import type { Client } from './client.ts';
import { ChangesDocument, type ChangesQuery } from './generated/operations.ts';

/** The maximum number of changes in one page of the feed. A page of this size costs one point of the rate limit. */
const pageSize = 5_000;

/** A page of the feed of a whitelist. */
export type FeedPage = NonNullable<ChangesQuery['whitelistChanges']>;

/** An entry of the feed. */
export type FeedEntry = FeedPage['upserts'][number];

/**
 * Yields the pages of the feed of a whitelist, up to now.
 *
 * @param options.withUses whether to read how many entries of each vehicle were recorded
 * @param after the cursor of the last page that was applied; null for the whole list
 */
export async function* feedPages(
  client: Client,
  locationId: string,
  after: string | null,
  { repeatable, withUses }: { repeatable: boolean; withUses: boolean },
): AsyncGenerator<FeedPage> {
  let cursor = after;
  let hasMore = true;
  while (hasMore) {
    const variables = { locationId, after: cursor, first: pageSize, withUses };
    const { whitelistChanges: page } = await client.run(ChangesDocument, variables, { repeatable });
    yield page;
    ({ cursor, hasMore } = page);
  }
}
