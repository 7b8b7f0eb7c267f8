import { freeMoment } from './free-moment.ts';

/** Items that are shown at once: to show one takes some 20 µs. */
export const itemsPerPart = 250;

/**
 * A list as its resolver returns it, however long it is: the executor shows the first items at once and each further part
 * in a moment of its own, so that other requests have their turn between them.
 */
export function listInParts<Item>(items: readonly Item[]): readonly (Item | Promise<Item>)[] {
  let turn: Promise<void> | undefined;
  return items.map((item, index) => {
    if (index > 0 && index % itemsPerPart === 0) turn = turn ? turn.then(freeMoment) : freeMoment();
    return turn ? turn.then(() => item) : item;
  });
}
