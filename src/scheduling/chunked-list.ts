import { yieldToEventLoop } from './yield.ts';

/** The number of items in one chunk. The executor takes about 20 µs for each item. */
export const itemsPerPart = 250;

/**
 * Creates a list of any length for a resolver to return. The GraphQL executor completes the first chunk immediately.
 * Before each further chunk, it yields to the event loop, so that a long list does not block other requests.
 */
export function createChunkedList<Item>(items: readonly Item[]): readonly (Item | Promise<Item>)[] {
  let previousChunks: Promise<void> | undefined;
  return items.map((item, index) => {
    if (index > 0 && index % itemsPerPart === 0)
      previousChunks = previousChunks ? previousChunks.then(yieldToEventLoop) : yieldToEventLoop();
    return previousChunks ? previousChunks.then(() => item) : item;
  });
}
