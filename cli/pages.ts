/** A page of a list, as every list of the graph has them (Relay connections). */
interface Page<Node> {
  nodes: readonly Node[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/**
 * The items of a whole list, page by page.
 *
 * @param fetchPage gets the page after a cursor, the first one after null
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
