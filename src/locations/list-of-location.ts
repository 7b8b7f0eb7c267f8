import type { AuthenticatedKey } from '../auth/key.ts';
import { reachable } from '../auth/scope.ts';
import type { OwnedRows } from '../database/keyset-list.ts';
import { isId } from '../ids.ts';
import type { Page, PagedList } from '../pages.ts';

/**
 * One location's part of a list. The statement that reads a page tells whether the key reaches the location:
 * a page is `NOT_FOUND` for an unknown location and for one out of reach.
 *
 * @param list answers for every location
 * @param question the location as `ownerId`, and the filters
 */
export function listOfLocation<Row extends { id: string }, Question extends { ownerId: string }>(
  list: {
    page(question: Question & Page): Promise<OwnedRows<Row> | undefined>;
    count(question: Question): Promise<number>;
  },
  key: AuthenticatedKey,
  question: Question,
): PagedList<Row> {
  return {
    async page(page) {
      const { ownerId } = question;
      return reachable(key, ownerId, isId(ownerId) ? await list.page({ ...question, ...page }) : undefined)
        .rows;
    },
    count: () => list.count(question),
  };
}
