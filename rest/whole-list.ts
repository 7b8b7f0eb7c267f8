import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../src/context.ts';
import { slotLimits } from '../src/scheduling/limits.ts';
import { createSlots } from '../src/scheduling/slots.ts';
import type { JsonShape, WholeList } from '../src/paging.ts';
import { bodyOfPieces, type Piece, piecesOf, streamPieces } from './json-pieces.ts';
import type { ConnectionPage } from './routes.ts';

// This module writes a whole list as JSON, part by part, so that lists of any length need a limited amount of memory.

/**
 * The number of items in the first part that the database writes. A short list needs no other part, and the first byte
 * of a long list is sent early.
 */
const firstPartItems = 250;

/**
 * The number of items in each later part, which has about 200 KiB. Ten slow clients then hold only a few parts each.
 */
const furtherPartItems = 500;

const partSlots = createSlots(slotLimits.listParts);

/** The pause between two pages of the graph in milliseconds, so that other requests can run. */
const pauseBetweenPagesMs = 2;

/**
 * A part of a list. It has its items as pieces of JSON separated by commas, and a function that reads the next part if
 * the list has more items.
 */
interface ListPart {
  items: Piece[];
  next: (() => Promise<ListPart>) | undefined;
}

/** Reads the first part of a list that the database writes. The result has the cursor for later changes. */
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
 * Creates a part of a list from a page of the graph.
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

/** Returns items as pieces of JSON, without the brackets around them. */
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
 * Returns the body of a whole list. The body is a text if the list has only one part. Otherwise, it is a stream that
 * reads each part when the client has read the previous part. Streaming stops when the API key is revoked.
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

/** Yields the pieces of a whole list, part by part. */
async function* piecesOfList(first: ListPart, context: Context): AsyncGenerator<Piece> {
  yield start;
  yield* first.items;
  for (let { next } = first; next;) {
    await context.reauthenticate();
    const part: ListPart = await partSlots.run(context.key.id, next);
    // A part can be empty: when the previous part was full and the last, or when the remaining items were deleted in
    // the meantime.
    if (part.items.length > 0) yield ',';
    yield* part.items;
    ({ next } = part);
  }
  yield end;
}
