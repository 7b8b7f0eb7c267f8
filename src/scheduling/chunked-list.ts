import { yieldToEventLoop } from './yield.ts';

/** The maximum number of items in one chunk of a list. The GraphQL executor needs about 20 µs for each list item. */
export const itemsPerPart = 250;

/**
 * Creates a list of any length that a GraphQL resolver can return. The GraphQL executor processes the items of the
 * first chunk immediately. Before each chunk except the first, the executor yields to the event loop, so that a long
 * list does not block other requests.
 */
export function createChunkedList<Item>(items: readonly Item[]): readonly (Item | Promise<Item>)[] {
  let previousChunks: Promise<void> | undefined;
  return items.map((item, index) => {
    if (index > 0 && index % itemsPerPart === 0)
      previousChunks = previousChunks ? previousChunks.then(yieldToEventLoop) : yieldToEventLoop();
    return previousChunks ? previousChunks.then(() => item) : item;
  });
}
