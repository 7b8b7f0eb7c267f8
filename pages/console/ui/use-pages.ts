import { useState } from 'react';

interface PageInfo {
  endCursor: string | null;
  hasNextPage: boolean;
}

/** One page of a list. */
export interface Page<Item> {
  nodes: readonly Item[];
  pageInfo: PageInfo;
}

/**
 * Splits a list into pages in the browser, and returns one page. The gateway sends such a list as a whole. `endCursor`
 * is the index, in the whole list, of the first item after the returned page.
 */
export function pageOf<Item>(
  items: readonly Item[],
  { first, after }: { first: number; after: string | undefined },
): Page<Item> {
  const start = Number(after ?? 0);
  const end = start + first;
  return {
    nodes: items.slice(start, end),
    pageInfo: { endCursor: String(end), hasNextPage: end < items.length },
  };
}

/** Remembers the cursors of the current page and of all earlier pages of a list. */
export function usePages() {
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  return {
    /** The cursor of the page that the user sees, or `undefined` for the first page. */
    after: cursors.at(-1),
    /** Goes back to the first page, for example after a new search. */
    restart: () => setCursors([undefined]),
    /**
     * Returns two functions: `onPrevious` goes to the previous page, and `onNext` goes to the next page. `onPrevious`
     * is `undefined` on the first page, and `onNext` is `undefined` on the last page. While the next page is loading,
     * `pageInfo` still describes the previous page, and `onNext` does nothing.
     */
    steps(pageInfo: PageInfo | undefined) {
      const next = pageInfo?.hasNextPage ? pageInfo.endCursor : null;
      return {
        onPrevious: cursors.length > 1 ? () => setCursors(cursors.slice(0, -1)) : undefined,
        onNext: next ? () => setCursors(cursors.at(-1) === next ? cursors : [...cursors, next]) : undefined,
      };
    },
  };
}
