import type { Client } from './client.ts';
import { ChangesDocument, type ChangesQuery } from './generated/operations.ts';

/** The maximum number of changes on one page of the feed. Such a page costs one rate limit point. */
const pageSize = 5_000;

/** A page of the feed of a whitelist. */
export type FeedPage = NonNullable<ChangesQuery['whitelistChanges']>;

/** A whitelist entry as the feed returns it. */
export type FeedEntry = FeedPage['upserts'][number];

/**
 * Yields the pages of the feed of a whitelist until there are no more changes.
 *
 * @param options.withUses whether to read how many times each vehicle has entered
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
