import { resolveCursorConnection } from '@pothos/plugin-relay';
import { z } from 'zod';
import { isId } from '../src/ids.ts';
import type { PagedList } from '../src/paging.ts';
import { wholeNumber } from './rules.ts';

/** The default page size. */
export const defaultPageSize = 20;
/** The maximum page size. */
const maxPageSize = 100;

/** Validates the arguments `first` and `last`. */
export const pageSize = wholeNumber(1, maxPageSize);

const encodeCursor = (id: string) => Buffer.from(id).toString('base64url');

/** The form of a cursor. `encodeCursor` encodes the 36 characters of an id in base64url. */
const cursorForm = /^[\w-]{48}$/;
const notACursor = 'Must be a cursor that this list returned';

/**
 * Validates the arguments `after` and `before`. A cursor contains the id of the item at its position, but clients must
 * treat it as opaque.
 */
export const cursor = z
  .string()
  .regex(cursorForm, { message: notACursor, abort: true })
  .meta({ minLength: 1 })
  .transform((value) => Buffer.from(value, 'base64url').toString())
  .refine((id) => isId(id) && id === id.toLowerCase(), notACursor);

/** The arguments that all connections have. */
export interface ConnectionArguments {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
}

/**
 * Returns a page of a list that is sorted by id, which is the order of creation. A cursor contains an id and no
 * position, so inserted or removed items do not shift the other items.
 *
 * @param args the connection's arguments, with `after` and `before` already decoded
 * @param list counts its items only when `totalCount` is selected
 * @param newestFirst for lists that start with the newest item
 */
export async function keysetConnection<Item extends { id: string }>(
  args: ConnectionArguments,
  list: PagedList<Item>,
  { newestFirst = false } = {},
) {
  const { edges = [], pageInfo } = await resolveCursorConnection<Promise<Item[]>>(
    {
      args,
      defaultSize: defaultPageSize,
      maxSize: maxPageSize,
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

/** An empty list. A resolver returns a page of it when REST reads the whole list itself. */
export const emptyList: PagedList<never> = { page: async () => [], count: async () => 0 };

/** Whether a resolver has returned a connection whose items can be counted. */
export function isCountable(value: unknown): value is { totalCount(): Promise<number> } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'totalCount' in value &&
    typeof value.totalCount === 'function'
  );
}
