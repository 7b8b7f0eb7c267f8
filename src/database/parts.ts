/**
 * Splits a list into parts of at most `size` items, and keeps the order of the items. For example, the gateway splits a
 * long list of ids so that each SQL statement gets a limited number of ids.
 */
export const partsOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, part) =>
    items.slice(part * size, (part + 1) * size),
  );

/**
 * Splits a list of items into parts, and keeps the order of the items. `weightOf` returns the size of an item, for
 * example its number of rows. The total size of the items in one part does not exceed `most`. An item that is larger
 * than `most` becomes a part of its own.
 */
export function partsWithin<Item>(
  most: number,
  items: readonly Item[],
  weightOf: (item: Item) => number,
): Item[][] {
  const parts: Item[][] = [];
  let weight = Number.POSITIVE_INFINITY;
  for (const item of items) {
    weight += weightOf(item);
    if (weight > most) {
      parts.push([]);
      weight = weightOf(item);
    }
    parts.at(-1)!.push(item);
  }
  return parts;
}
