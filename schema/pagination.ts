import { resolveCursorConnection } from '@pothos/plugin-relay';
import { z } from 'zod';
import { invalidField } from '../src/errors/error-table.ts';
import { isId } from '../src/ids.ts';
import type { PagedList } from '../src/paging.ts';
import { wholeNumber } from './rules.ts';

/** The default number and the maximum number of items on a page of a GraphQL connection. */
export const pageSizes = { usual: 20, max: 100 };

/** Validates the arguments `first` and `last` of a GraphQL connection, which set the page size. */
export const pageSize = wholeNumber(1, pageSizes.max);

const encodeCursor = (id: string) => Buffer.from(id).toString('base64url');

/**
 * The regular expression for a cursor of a GraphQL connection. A cursor is the base64url encoding of an id, and has 48
 * characters.
 */
const cursorForm = /^[\w-]{48}$/;
const notACursor = 'Must be a cursor that this list returned';

/**
 * Validates the arguments `after` and `before` of a GraphQL connection, which are cursors. A cursor contains the id of
 * an item in the list, but clients must not rely on the content of a cursor.
 */
export const cursor = z
  .string()
  .regex(cursorForm, { message: notACursor, abort: true })
  .meta({ minLength: 1 })
  .transform((value) => Buffer.from(value, 'base64url').toString())
  .refine((id) => isId(id) && id === id.toLowerCase(), notACursor);

/** The arguments that all GraphQL connections (lists with pages) have. */
export type ConnectionArguments = PothosSchemaTypes.DefaultConnectionArguments;

/**
 * Returns one page of a list. A newer item has a greater id, so a list that is sorted by id is also sorted by the
 * creation time of its items. A cursor contains the id of an item, and not the position of the item in the list. The
 * next page is therefore correct even if items were added or removed after the client had read the previous page.
 *
 * @param args the arguments of the connection; the ids in the cursors `after` and `before` are already decoded
 * @param list the list from which the page is read; PostgreSQL counts the list only when the client selects
 *   `totalCount`
 * @param newestFirst true for a list that starts with the newest item
 * @throws {ServiceError} `VALIDATION_ERROR` for a request with both `first` and `last`
 */
export async function keysetConnection<Item extends { id: string }>(
  args: ConnectionArguments,
  list: PagedList<Item>,
  { newestFirst = false } = {},
) {
  const { first, last } = args;
  if (typeof first === 'number' && typeof last === 'number') {
    throw invalidField('last', 'Must not be sent together with first', last);
  }
  const { edges = [], pageInfo } = await resolveCursorConnection<Promise<Item[]>>(
    {
      args,
      defaultSize: pageSizes.usual,
      maxSize: pageSizes.max,
      toCursor: (item) => encodeCursor(item.id),
    },
    ({ after, before, limit, inverted }) =>
      list.page({
        after: newestFirst ? before : after,
        before: newestFirst ? after : before,
        limit,
        descending: inverted !== newestFirst,
      }),
  );
  return {
    edges,
    pageInfo: {
      ...pageInfo,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: () => list.count(),
  };
}

/**
 * A list without items. For some REST requests, such as a request for a whole list, the REST code reads the list from
 * the database, so the GraphQL resolver does not read it. When the REST code reads the list, the GraphQL resolver
 * returns `emptyList` in place of the list.
 */
export const emptyList: PagedList<never> = { page: async () => [], count: async () => 0 };

/** Whether the value that a resolver returned is a connection that has the function `totalCount`. */
export function isCountable(value: unknown): value is { totalCount(): Promise<number> } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'totalCount' in value &&
    typeof value.totalCount === 'function'
  );
}
