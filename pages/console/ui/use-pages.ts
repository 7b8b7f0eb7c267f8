import { useState } from 'react';

interface PageInfo {
  endCursor: string | null;
  hasNextPage: boolean;
}

/** Remembers the cursors of the current page and of all earlier pages of a list. */
export function usePages() {
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  return {
    /** The cursor of the current page; undefined for the first page. */
    after: cursors.at(-1),
    /** Returns to the first page, for example after a new search. */
    restart: () => setCursors([undefined]),
    /**
     * Returns the functions that go to the previous and to the next page. A function is undefined when there is no such
     * page.
     */
    steps(pageInfo: PageInfo | undefined) {
      const next = pageInfo?.hasNextPage ? pageInfo.endCursor : null;
      return {
        onPrevious: cursors.length > 1 ? () => setCursors(cursors.slice(0, -1)) : undefined,
        onNext: next ? () => setCursors([...cursors, next]) : undefined,
      };
    },
  };
}
