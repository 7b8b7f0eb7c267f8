import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../src/context.ts';
import { slotLimits } from '../src/scheduling/limits.ts';
import { createSlots } from '../src/scheduling/slots.ts';
import type { JsonShape, WholeList } from '../src/paging.ts';
import { bodyOfPieces, type Piece, piecesOf, streamPieces } from './json-pieces.ts';
import type { ConnectionPage } from './routes.ts';

// This module writes whole lists as JSON, one part after the other. The memory that it needs does not grow with the
// length of the list.

/**
 * The number of items in the first part of a list. A short list fits into this part, and the first bytes of a long list
 * are sent early.
 */
const firstPartItems = 250;

/**
 * The number of items in each later part, which takes about 200 KiB. With ten slow clients, only a few parts for each
 * are in memory.
 */
const furtherPartItems = 500;

const partSlots = createSlots(slotLimits.listParts);

/**
 * The pause between two pages that are read from the graph, in milliseconds. Other requests can run during the pause.
 */
const pauseBetweenPagesMs = 2;

/** A part of a list. It has its items as JSON text, and a function that reads the next part if there are more items. */
interface ListPart {
  items: Piece[];
  next: (() => Promise<ListPart>) | undefined;
}

/** Reads the first part of a list as JSON text from the database. The result also has the cursor for later changes. */
export async function firstJsonPart(list: WholeList, shape: JsonShape) {
  async function read(after: string | undefined, limit: number) {
    const { items, count, lastId, changesCursor } = await list.jsonPage(shape, { after, limit });
    const next =
      count === limit && lastId !== null
        ? async () => (await read(lastId, furtherPartItems)).part
        : undefined;
    const part: ListPart = { items: items === '' ? [] : [items], next };
    return { part, changesCursor };
  }
  return read(undefined, firstPartItems);
}

/**
 * Converts a page of the graph to a part of a list.
 *
 * @param readPage reads the page after a cursor
 */
export function partOfPage(
  { nodes, pageInfo: { hasNextPage, endCursor } }: ConnectionPage,
  readPage: (after: string) => Promise<ConnectionPage>,
): ListPart {
  const next = async (after: string) => {
    await sleep(pauseBetweenPagesMs);
    return partOfPage(await readPage(after), readPage);
  };
  return {
    items: itemsOf(nodes),
    next: hasNextPage && endCursor ? () => next(endCursor) : undefined,
  };
}

/** Returns items as JSON text, separated by commas and without brackets. */
function itemsOf(nodes: readonly unknown[]): Piece[] {
  if (nodes.length === 0) return [];
  const pieces = piecesOf(nodes);
  pieces[0] = (pieces[0] as string).slice(1);
  pieces.push((pieces.pop() as string).slice(0, -1));
  return pieces;
}

const start = '{"success":true,"data":[';
const end = ']}';

/**
 * Returns the response body for a whole list. If the list has only one part, the body is a text. Otherwise, the body is
 * a stream that reads each part when the client has read the previous part. The stream stops when the API key is
 * revoked.
 *
 * @param breakOff receives the error of a failed part and closes the connection, because the server would otherwise end
 *   the response as if it were complete. Returns whether there was a connection.
 */
export function wholeListBody(
  first: ListPart,
  context: Context,
  breakOff: (error: unknown) => boolean,
): string | ReadableStream<Uint8Array> {
  if (!first.next) return bodyOfPieces([start, ...first.items, end], context, breakOff);
  return streamPieces(piecesOfList(first, context), context, breakOff);
}

/** Yields the JSON text of a whole list in pieces. */
async function* piecesOfList(first: ListPart, context: Context): AsyncGenerator<Piece> {
  yield start;
  yield* first.items;
  for (let { next } = first; next;) {
    await context.reauthenticate();
    const part: ListPart = await partSlots.run(context.key.id, next);
    // The next part can be empty. Either the previous part ended exactly at the end of the list, or the remaining items
    // were deleted in the meantime.
    if (part.items.length > 0) yield ',';
    yield* part.items;
    ({ next } = part);
  }
  yield end;
}
