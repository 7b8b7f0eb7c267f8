/** Items in parts of a size, in their order: what one statement takes at once has a bound. */
export const partsOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, part) =>
    items.slice(part * size, (part + 1) * size),
  );

/** Items in parts, in their order: the weights of a part are together at most so much, and one item always fits. */
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
