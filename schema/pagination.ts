import { resolveCursorConnection } from '@pothos/plugin-relay';
import { z } from 'zod';
import { isId } from '../src/ids.ts';
import { wholeNumber } from './rules.ts';

/** Items of a page when the client says nothing. */
export const defaultPageSize = 20;
/** The most items of a page. */
export const largestPageSize = 100;

/** The rule of `first` and `last`. */
export const pageSize = wholeNumber(1, largestPageSize);

const encodeCursor = (id: string) => Buffer.from(id).toString('base64url');

/** The rule of `after` and `before`: what is opaque to the client is the id of the item at that place. */
export const cursor = z
  .string()
  .transform((value) => Buffer.from(value, 'base64url').toString())
  .refine(isId, 'Must be a cursor that this list returned');

/** Which part of a list a page takes: ids between two bounds, in one direction, so many. */
export interface Page {
  after: string | undefined;
  before: string | undefined;
  limit: number;
  descending: boolean;
}

interface ConnectionArguments {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
}

/**
 * One page of a list that is sorted by id, which is the order of creation. Pages are bounded by ids
 * and not by positions: what is inserted or removed meanwhile moves no other item.
 *
 * @param args the connection's arguments, `after` and `before` already decoded by their rule
 * @param items fetches the page's items in the asked direction
 * @param totalCount counts the whole list; called only when selected
 * @param newestFirst for lists that start with the newest item
 */
export async function keysetConnection<Item extends { id: string }>(
  args: ConnectionArguments,
  items: (page: Page) => Promise<Item[]>,
  totalCount: () => Promise<number>,
  { newestFirst = false } = {},
) {
  const { edges = [], pageInfo } = await resolveCursorConnection<Promise<Item[]>>(
    {
      args,
      defaultSize: defaultPageSize,
      maxSize: largestPageSize,
      toCursor: (item) => encodeCursor(item.id),
    },
    ({ after, before, limit, inverted }) =>
      items({
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
    totalCount,
  };
}

/** The bounds of a page as a Prisma `where`. */
export function idWhere({ after, before }: Page) {
  return { id: { ...(after && { gt: after }), ...(before && { lt: before }) } };
}

/** The order and the size of a page for a Prisma `findMany`. */
export function idOrder({ limit, descending }: Page) {
  return { orderBy: { id: descending ? ('desc' as const) : ('asc' as const) }, take: limit };
}
