import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../src/context.ts';
import { slotLimits } from '../src/scheduling/limits.ts';
import { createSlots } from '../src/scheduling/slots.ts';
import type { JsonShape, WholeList } from '../src/paging.ts';
import { bodyOfPieces, type Piece, piecesOf, streamPieces } from './json-pieces.ts';
import type { ConnectionPage } from './routes.ts';

// This module writes a whole list as JSON in several parts. The gateway therefore needs memory for only a few parts,
// even if the list is long.

/**
 * The number of items in the first part of a list that the gateway sends in several parts. The gateway sends a long
 * list in several parts, so that the client gets the first bytes early.
 */
const firstPartItems = 250;

/**
 * The number of items in each part of a streamed list after the first part. A part with 500 items of a streamed list
 * occupies about 200 KiB. The process keeps only a few parts of a list in memory for each client, even if the client
 * reads slowly.
 */
const furtherPartItems = 500;

const partSlots = createSlots(slotLimits.listParts);

/**
 * The time, in milliseconds, that the gateway waits between two pages when it reads a list page by page. During the
 * pause, the gateway process can work on other requests.
 */
const pauseBetweenPagesMs = 2;

/**
 * One part of a list that the gateway sends in several parts. `items` contains the items of this part as JSON text.
 * `next` reads the next part; in the last part, `next` is `undefined`.
 */
interface ListPart {
  items: Piece[];
  next: (() => Promise<ListPart>) | undefined;
}

/**
 * Reads the first part of a list from the database. The database returns the items as JSON text. The result contains
 * the first part of the list, and a cursor. With this cursor, a client can later read the changes of the list.
 */
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
 * Converts a page of a GraphQL list to one part of a REST response that contains the whole list.
 *
 * @param readPage a function that reads the page after a given cursor
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

/** Returns the items of a list as JSON text, with commas between the items but without the brackets of the array. */
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
 * Returns the response body for a whole list: a text if the list has only one part, and otherwise a stream. The stream
 * reads the next part of the list only after the client has read the previous part. The response stream ends early when
 * the API key of the request is revoked.
 *
 * @param breakOff a function that closes the client's connection after an error, so that the client notices that the
 *   response is incomplete. `breakOff` returns false if there was no connection to close
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
    const readNext = next;
    const part: ListPart = await partSlots.run(context.key.id, async () => {
      // The gateway checks the API key again. The API key may have been revoked while the client read the previous
      // part, or while this part waited in the queue.
      await context.reauthenticate();
      return readNext();
    });
    // A part of the streamed list can be empty, for example if a client has deleted the last items while the gateway
    // was sending the list.
    if (part.items.length > 0) yield ',';
    yield* part.items;
    ({ next } = part);
  }
  yield end;
}
