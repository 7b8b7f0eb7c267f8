import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
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
    page(question: Question & Reached & Page): Promise<OwnedRows<Row> | undefined>;
    count(question: Question & Reached): Promise<number>;
  },
  key: AuthenticatedKey,
  question: Question,
): PagedList<Row> {
  const { ownerId } = question;
  const reached = { ...question, ofCompanies: companiesOfReach(key, ownerId) };
  return {
    async page(page) {
      const found = isId(ownerId) ? await list.page({ ...reached, ...page }) : undefined;
      return reachable(key, ownerId, found).rows;
    },
    count: () => list.count(reached),
  };
}

/** Keeps what a key does not reach from being read. */
interface Reached {
  ofCompanies: string | null;
}
