/** A page of a list in a GraphQL response (a Relay connection). */
export interface Page<Node> {
  nodes: readonly Node[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** The maximum number of items on one page of a list. */
export const maxPageSize = 100;

/**
 * Reads a list page by page, and yields all its items.
 *
 * @param fetchPage a function that reads the page after a cursor, or the first page if the cursor is null
 */
export async function* itemsOf<Node>(
  fetchPage: (after: string | null) => Promise<Page<Node>>,
): AsyncGenerator<Node> {
  let after: string | null = null;
  do {
    const page: Page<Node> = await fetchPage(after);
    yield* page.nodes;
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after);
}

/** Reads the first items of a list. Returns these items, and whether the list has more items. */
export async function firstItemsOf<Node>(
  limit: number,
  fetchPage: (first: number, after: string | null) => Promise<Page<Node>>,
): Promise<{ items: Node[]; hasMore: boolean }> {
  const items: Node[] = [];
  let after: string | null = null;
  let hasMore = true;
  while (hasMore && items.length < limit) {
    const page: Page<Node> = await fetchPage(Math.min(limit - items.length, maxPageSize), after);
    items.push(...page.nodes);
    after = page.pageInfo.endCursor;
    hasMore = page.pageInfo.hasNextPage;
  }
  return { items, hasMore };
}

/** Requests one page of a list after the other, and returns all items of the list as an array. */
export async function allItemsOf<Node>(
  fetchPage: (after: string | null) => Promise<Page<Node>>,
): Promise<Node[]> {
  const items: Node[] = [];
  for await (const item of itemsOf(fetchPage)) items.push(item);
  return items;
}
