/** One page of a list that is sorted by id. */
export interface Page {
  /** Only items with a greater id. */
  after?: string | undefined;
  /** Only items with a smaller id. */
  before?: string | undefined;
  /** The maximum number of items. */
  limit: number;
  /** Starts with the newest item instead of the oldest. */
  descending: boolean;
}

/** A list that is read page by page. It is sorted by id, which is the order of creation (src/ids.ts). */
export interface PagedList<Item extends { id: string }> {
  page(page: Page): Promise<Item[]>;
  /** The number of items in the whole list. */
  count(): Promise<number>;
}

/** The fields of a list's items as JSON: the name of each field and the database column it comes from. */
export type JsonShape = readonly { name: string; column: string }[];

/** A page as JSON text that the database wrote. */
export interface JsonPage {
  /** The items, separated by commas; empty when there are none. */
  items: string;
  /** The number of items. */
  count: number;
  /** The id of the last item; null when there is none. */
  lastId: string | null;
}

/** A list that can be sent as a whole. The database writes its JSON, so no process parses and serializes the rows. */
export interface WholeList {
  /**
   * The page after an id, or the first page.
   *
   * @param limit the maximum number of items
   * @returns the page, and a cursor for the changes made after the page was read
   */
  jsonPage(
    shape: JsonShape,
    page: Pick<Page, 'after' | 'limit'>,
  ): Promise<JsonPage & { changesCursor: string }>;
}
