import type { Client } from './client.ts';
import { ChangesDocument, type ChangesQuery } from './generated/operations.ts';

/**
 * The maximum number of changes on one page of the whitelist feed. Even a page with 5,000 whitelist changes costs only
 * one rate limit point.
 */
const pageSize = 5_000;

/** One page of the whitelist feed, which is the list of changes of a whitelist. */
export type FeedPage = NonNullable<ChangesQuery['whitelistChanges']>;

/** A whitelist entry in the form in which the whitelist feed returns it. */
export type FeedEntry = FeedPage['upserts'][number];

/**
 * Yields the pages of changes of a whitelist one after the other, until there are no more changes.
 *
 * @param options.withUses true if each whitelist entry also contains the number of recorded entries of its vehicle
 * @param after the cursor of the last page of whitelist changes that the client has processed; null to read the whole
 *   whitelist
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
