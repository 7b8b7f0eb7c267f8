import type { Client } from './client.ts';
import { ChangesDocument, type ChangesQuery } from './generated/operations.ts';

/**
 * The maximum number of changes on one page of the whitelist feed. Even a page with 5,000 changes costs only one rate
 * limit point.
 */
const pageSize = 5_000;

/** One page of the whitelist feed, which is the list of changes of a whitelist. */
export type FeedPage = NonNullable<ChangesQuery['whitelistChanges']>;

/** A whitelist entry in the form in which the whitelist feed returns it. */
export type FeedEntry = FeedPage['upserts'][number];

/**
 * Yields one page of a whitelist's feed after another, until there are no more changes. If the whole whitelist is longer
 * than one page, clients may change the whitelist between two pages. After the last page, the function therefore also
 * reads the changes since the first page.
 *
 * @param options.withUses whether the pages show how often each vehicle has entered
 * @param after the cursor of the last page that the client has processed; null to read the whole whitelist
 */
export async function* feedPages(
  client: Client,
  locationId: string,
  after: string | null,
  { repeatable, withUses }: { repeatable: boolean; withUses: boolean },
): AsyncGenerator<FeedPage> {
  let cursor = after;
  let isWhole = after === null;
  let hasMore = true;
  while (hasMore) {
    const variables = { locationId, after: cursor, first: pageSize, withUses };
    const { whitelistChanges: page } = await client.run(ChangesDocument, variables, { repeatable });
    yield page;
    const isFirstPage = cursor === after || page.reset;
    isWhole ||= page.reset;
    hasMore = page.hasMore || (isWhole && !isFirstPage);
    isWhole &&= page.hasMore;
    cursor = page.cursor;
  }
}

/**
 * Applies a page of the whitelist feed to a copy of the whitelist. `copy` maps the id of each whitelist entry to the
 * entry.
 */
export function applyPage(copy: Map<string, FeedEntry>, { reset, removals, upserts }: FeedPage): void {
  if (reset) copy.clear();
  for (const { id } of removals) copy.delete(id);
  for (const entry of upserts) copy.set(entry.id, entry);
}
