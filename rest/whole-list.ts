import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonShape, WholeList } from '../src/pages.ts';
import type { ConnectionPage } from './routes.ts';

// A whole list as the text of an answer, part by part: lists of any length, in bounded memory.

/** Items of the first part that the database writes: short lists need no other, and its first byte comes early. */
const firstPartItems = 250;

/** Items of the parts that follow, about 200 KiB: ten slow readers hold a few of them each. */
const furtherPartItems = 500;

/** Milliseconds in which other requests have their turn while this process makes a list out of pages of the graph. */
const pauseBetweenPagesMs = 2;

/** A part of a list: its items as JSON, with commas between, and what reads the part after it if there is more. */
interface ListPart {
  items: string;
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
    const part: ListPart = { items, next };
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
    items: JSON.stringify(nodes).slice(1, -1),
    next: hasNextPage && endCursor ? () => next(endCursor) : undefined,
  };
}

const start = '{"success":true,"data":[';
const end = ']}';

/**
 * The body of a whole list: a text when the first part is all, otherwise a stream that reads part after part as fast
 * as the client does.
 *
 * @param beforeNext is called before each further part is read; what it throws ends the list
 * @param breakOff is told why a part failed, and cuts the connection: the server would end the answer as if it were
 *   complete. Returns whether there was one.
 */
export function wholeListBody(
  first: ListPart,
  beforeNext: () => Promise<unknown>,
  breakOff: (error: unknown) => boolean,
): string | ReadableStream<Uint8Array> {
  if (!first.next) return `${start}${first.items}${end}`;
  let last: ListPart = first;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(start + first.items));
    },
    async pull(controller) {
      try {
        await beforeNext();
        last = await last.next!();
        // Empty when the part before was full, or what was left has been deleted since.
        const items = last.items === '' ? '' : `,${last.items}`;
        controller.enqueue(Buffer.from(last.next ? items : items + end));
        if (!last.next) controller.close();
      } catch (error) {
        if (!breakOff(error)) controller.error(error);
      }
    },
  });
}
