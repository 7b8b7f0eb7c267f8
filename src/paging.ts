/** Describes one page of a list that is sorted by id. */
export interface Page {
  /** If `after` is given, the page contains only items with a greater id than `after`. */
  after?: string | undefined;
  /** If `before` is given, the page contains only items with a smaller id than `before`. */
  before?: string | undefined;
  /** The maximum number of items on the page. */
  limit: number;
  /**
   * Whether the newest items come first on the page. If `descending` is `false`, the page lists the oldest items first.
   */
  descending: boolean;
}

/**
 * A list that clients read page by page. The items are sorted by id, and therefore by the time of their creation
 * (src/ids.ts).
 */
export interface PagedList<Item extends { id: string }> {
  page(page: Page): Promise<Item[]>;
  /** Returns the number of items in the whole list. */
  count(): Promise<number>;
}

/**
 * The JSON fields of the items in a list. `name` is the name of the JSON field, and `column` is the database column
 * that contains the value of the field.
 */
export type JsonShape = readonly { name: string; column: string }[];

/** One page of a list, with the items as the JSON text that the database returns. */
export interface JsonPage {
  /** The items as JSON text, separated by commas. If the page has no items, the JSON text is empty. */
  items: string;
  /** The number of items on the page. */
  count: number;
  /** The id of the last item on the page; null when the page has no items. */
  lastId: string | null;
}

/**
 * A list that a client can request as a whole in one response, instead of page by page. The database writes the rows of
 * the list as JSON text, so the gateway process does not parse and serialize the rows.
 */
export interface WholeList {
  /**
   * Returns one page of the list. The page starts after the item with the id `page.after`, or at the start of the list
   * if `page.after` is omitted.
   *
   * @param page.limit the maximum number of items
   * @returns a page of the list, and a cursor from which a client can read all later changes of the list
   */
  jsonPage(
    shape: JsonShape,
    page: Pick<Page, 'after' | 'limit'>,
  ): Promise<JsonPage & { changesCursor: string }>;
}
