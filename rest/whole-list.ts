import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../src/context.ts';
import { slotLimits } from '../src/scheduling/limits.ts';
import { createSlots } from '../src/scheduling/slots.ts';
import type { JsonShape, WholeList } from '../src/paging.ts';
import { bodyOfPieces, type Piece, piecesOf, streamPieces } from './json-pieces.ts';
import type { ConnectionPage } from './routes.ts';

// Writes a whole list as JSON, part by part, so that lists of any length need bounded memory.

/**
 * Number of items in the first part that the database writes. Short lists need no other part, and the first byte is
 * sent early.
 */
const firstPartItems = 250;

/** Number of items in each later part, about 200 KiB. Ten slow readers then hold a few parts each. */
const furtherPartItems = 500;

const partSlots = createSlots(slotLimits.listParts);

/** Pause in milliseconds between two pages of the graph, so that other requests run. */
const pauseBetweenPagesMs = 2;

/**
 * A part of a list: its items as pieces of JSON separated by commas, and a function that reads the next part, if there
 * is one.
 */
interface ListPart {
  items: Piece[];
  next: (() => Promise<ListPart>) | undefined;
}

/** The first part of a list that the database writes, with the cursor for changes after it was read. */
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
 * A part of a list, made from a page of the graph.
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

/** Items as pieces of JSON, without the brackets around them. */
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
 * The body of a whole list: a text when the first part is everything, otherwise a stream that reads each part when the
 * client has read the previous one. Streaming stops when the API key is revoked.
 *
 * @param breakOff receives the error of a failed part and closes the connection, because the server would otherwise end
 * the response as if it were complete. Returns whether there was a connection.
 */
export function wholeListBody(
  first: ListPart,
  context: Context,
  breakOff: (error: unknown) => boolean,
): string | ReadableStream<Uint8Array> {
  if (!first.next) return bodyOfPieces([start, ...first.items, end], context, breakOff);
  return streamPieces(piecesOfList(first, context), context, breakOff);
}

/** The pieces of a whole list, part by part. */
async function* piecesOfList(first: ListPart, context: Context): AsyncGenerator<Piece> {
  yield start;
  yield* first.items;
  for (let { next } = first; next;) {
    await context.reauthenticate();
    const part: ListPart = await partSlots.run(context.key.id, next);
    // A part is empty when the previous one was full, or when the remaining items were deleted meanwhile.
    if (part.items.length > 0) yield ',';
    yield* part.items;
    ({ next } = part);
  }
  yield end;
}
