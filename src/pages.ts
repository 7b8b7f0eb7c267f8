/** A part of a list that is sorted by id: between two ids, and so many items from one end. */
export interface Page {
  /** Only items with a greater id. */
  after?: string | undefined;
  /** Only items with a smaller id. */
  before?: string | undefined;
  /** How many items at most. */
  limit: number;
  /** From the newest item on instead of from the oldest. */
  descending: boolean;
}

/** A list that is read page by page. Ids sort in the order of creation (src/ids.ts), and so does the list. */
export interface PagedList<Item extends { id: string }> {
  page(page: Page): Promise<Item[]>;
  /** How many items the whole list has. */
  count(): Promise<number>;
}
