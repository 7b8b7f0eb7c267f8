import type { AuthenticatedKey } from '../auth/key.ts';
import { companiesOfReach, reachable } from '../auth/scope.ts';
import type { OwnedRows } from '../database/keyset-list.ts';
import { isId } from '../ids.ts';
import type { Page, PagedList } from '../paging.ts';

/**
 * Creates a paged list of the rows that belong to one location, such as the entries of its whitelist. The SQL statement
 * that reads a page of the list also checks the scope of the API key. Reading a page throws `NOT_FOUND` for an unknown
 * location and for a location outside the scope of the API key.
 *
 * @param list the functions that read and count the rows of the list for any location
 * @param question the client's query: the filters of the list, and the id of the location (`ownerId`)
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

/** The SQL parameters that limit an SQL statement to the locations in the scope of an API key. */
interface Reached {
  ofCompanies: string | null;
}
