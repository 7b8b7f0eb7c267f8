import { useState } from 'react';

interface PageInfo {
  endCursor: string | null;
  hasNextPage: boolean;
}

/** The cursors of a list that is read page by page: of earlier pages and of the current page. */
export function usePages() {
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  return {
    /** The cursor of the current page; undefined for the first one. */
    after: cursors.at(-1),
    /** Returns to the first page, for example after a new search. */
    restart: () => setCursors([undefined]),
    /** The functions that go to the previous and next page, where these exist. */
    steps(pageInfo: PageInfo | undefined) {
      const next = pageInfo?.hasNextPage ? pageInfo.endCursor : null;
      return {
        onPrevious: cursors.length > 1 ? () => setCursors(cursors.slice(0, -1)) : undefined,
        onNext: next ? () => setCursors([...cursors, next]) : undefined,
      };
    },
  };
}
