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

/** What the items of a list are shown as: columns of their rows, each under its name in the answer. */
export type JsonShape = readonly { name: string; column: string }[];

/** A part of a list as JSON that the database wrote. */
export interface JsonPage {
  /** The items, with commas between them; empty when there are none. */
  items: string;
  /** How many items. */
  count: number;
  /** The id of the last item; null when there is none. */
  lastId: string | null;
}

/** A list that can be sent whole: the database writes its JSON, which no process has to take apart and make again. */
export interface WholeList {
  /**
   * The items after an id, or the first ones.
   *
   * @param limit how many items at most
   * @returns the page, and the cursor of what changes after it was read
   */
  jsonPage(
    shape: JsonShape,
    page: Pick<Page, 'after' | 'limit'>,
  ): Promise<JsonPage & { changesCursor: string }>;
}
