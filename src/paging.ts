/** Describes one page of a list that is sorted by id. */
export interface Page {
  /** When given, the page has only items with a greater id. */
  after?: string | undefined;
  /** When given, the page has only items with a smaller id. */
  before?: string | undefined;
  /** The maximum number of items on the page. */
  limit: number;
  /** Whether the page starts with the newest item. Otherwise it starts with the oldest item. */
  descending: boolean;
}

/** A list that clients read page by page. The items are sorted by id, which is the order of creation (src/ids.ts). */
export interface PagedList<Item extends { id: string }> {
  page(page: Page): Promise<Item[]>;
  /** Returns the number of items in the whole list. */
  count(): Promise<number>;
}

/** The fields of a list's items in JSON. Each field has a name and the database column with its value. */
export type JsonShape = readonly { name: string; column: string }[];

/** A page of a list as JSON text, which the database wrote. */
export interface JsonPage {
  /** The items as JSON text, separated by commas. The text is empty when the page has no items. */
  items: string;
  /** The number of items on the page. */
  count: number;
  /** The id of the last item on the page; null when the page has no items. */
  lastId: string | null;
}

/**
 * A list that one response can contain as a whole. The database writes the JSON text, so that the process does not have
 * to parse and serialize each row.
 */
export interface WholeList {
  /**
   * Returns the first page, or the page after an id.
   *
   * @param limit the maximum number of items
   * @returns the page, and a cursor for the changes made after the page was read
   */
  jsonPage(
    shape: JsonShape,
    page: Pick<Page, 'after' | 'limit'>,
  ): Promise<JsonPage & { changesCursor: string }>;
}
