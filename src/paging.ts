/** One page of a list that is sorted by id. */
export interface Page {
  /** Returns only items with an id greater than this id. */
  after?: string | undefined;
  /** Returns only items with an id smaller than this id. */
  before?: string | undefined;
  /** The maximum number of items. */
  limit: number;
  /** Whether the page starts with the newest item. By default, a page starts with the oldest item. */
  descending: boolean;
}

/** A list that is read page by page. The items are sorted by id, which is the order of creation (src/ids.ts). */
export interface PagedList<Item extends { id: string }> {
  page(page: Page): Promise<Item[]>;
  /** The number of items in the whole list. */
  count(): Promise<number>;
}

/** The fields of a list's items as JSON. Each field has a name and the database column that contains its value. */
export type JsonShape = readonly { name: string; column: string }[];

/** A page as JSON text that the database wrote. */
export interface JsonPage {
  /** The JSON of the items, separated by commas. The text is empty when the page has no items. */
  items: string;
  /** The number of items. */
  count: number;
  /** The id of the last item of the page. null when the page has no items. */
  lastId: string | null;
}

/**
 * A list that one response can contain as a whole. The database writes the JSON, so that the process need not parse and
 * serialize rows.
 */
export interface WholeList {
  /**
   * Returns the page after an id, or the first page.
   *
   * @param limit the maximum number of items
   * @returns the page, and a cursor for the changes made after the page was read
   */
  jsonPage(
    shape: JsonShape,
    page: Pick<Page, 'after' | 'limit'>,
  ): Promise<JsonPage & { changesCursor: string }>;
}
