import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../src/context.ts';
import { createFairTurns } from '../src/fair-turns.ts';
import type { JsonShape, WholeList } from '../src/pages.ts';
import { bodyOfPieces, type Piece, piecesOf, streamPieces } from './json-pieces.ts';
import type { ConnectionPage } from './routes.ts';

// A whole list as the text of an answer, part by part: lists of any length, in bounded memory.

/** Items of the first part that the database writes: short lists need no other, and its first byte comes early. */
const firstPartItems = 250;

/** Items of the parts that follow, about 200 KiB: ten slow readers hold a few of them each. */
const furtherPartItems = 500;

/**
 * Parts after the first that a process reads at once, one of each key: however many long lists are read, other requests
 * have their turn between two parts.
 */
const partsAtOnce = 2;
const partTurns = createFairTurns(partsAtOnce);

/** Milliseconds in which other requests have their turn while this process makes a list out of pages of the graph. */
const pauseBetweenPagesMs = 2;

/**
 * A part of a list: its items as pieces of JSON with commas between, none for no items, and what reads the part after
 * it if there is more.
 */
interface ListPart {
  items: Piece[];
  next: (() => Promise<ListPart>) | undefined;
}

/** The first part of a list that the database writes, and the cursor of what changes after it was read. */
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
 * A part of a list that is made out of a page of the graph.
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
 * The body of a whole list: a text when the first part is all, otherwise a stream that reads part after part as fast
 * as the client does. A list ends with its key, however long it is.
 *
 * @param breakOff is told why a part failed, and cuts the connection: the server would end the answer as if it were
 *   complete. Returns whether there was one.
 */
export function wholeListBody(
  first: ListPart,
  context: Context,
  breakOff: (error: unknown) => boolean,
): string | ReadableStream<Uint8Array> {
  if (!first.next) return bodyOfPieces([start, ...first.items, end], context, breakOff);
  return streamPieces(piecesOfList(first, context), context, breakOff);
}

/** The pieces of a whole list, part after part. */
async function* piecesOfList(first: ListPart, context: Context): AsyncGenerator<Piece> {
  yield start;
  yield* first.items;
  for (let { next } = first; next;) {
    await context.reauthenticate();
    const part: ListPart = await partTurns.run(context.key.id, next);
    // There are none when the part before was full, or what was left has been deleted since.
    if (part.items.length > 0) yield ',';
    yield* part.items;
    ({ next } = part);
  }
  yield end;
}
