// If a request body exceeds one of the limits in docs/rate-limits.md, the gateway refuses the whole request, even if
// only one row of the request is too large. The command line therefore has its own limits for the size of its requests.
// test/limits/client-limits.test.ts compares the limits of the command line with the limits of the gateway.

/** The maximum length of a text in a request: its number of characters in JSON, including the quotes. */
const maxTextCharacters = 32_768;

/**
 * The maximum number of JSON values in all rows of a request. The gateway accepts 400,000 JSON values in a request
 * body, and some of these values do not belong to the rows.
 */
const maxValues = 399_000;

/** The maximum size of all rows in a request, in bytes of JSON. The gateway accepts request bodies of up to 16 MiB. */
const maxBytes = 15 * 1024 * 1024;

/**
 * Counts a JSON value and all values inside it, in the same way as the gateway counts them. The gateway counts an array
 * or object as three values plus the values inside it. An empty array or object counts as four values.
 */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const items: unknown[] = Object.values(value);
  return items.reduce((sum: number, each) => sum + countValues(each), items.length === 0 ? 4 : 3);
}

/** Creates an object that adds up the sizes of the rows in a request. */
export function createRequestSize() {
  let values = 0;
  let bytes = 0;
  return {
    /**
     * Adds the size of a row to the size of the request. Returns true if the request with this row is small enough for
     * the gateway.
     */
    add(row: unknown): boolean {
      values += countValues(row);
      bytes += Buffer.byteLength(JSON.stringify(row)) + 1; // a comma separates two rows
      return values <= maxValues && bytes <= maxBytes;
    },
  };
}

/**
 * Searches a JSON value for a text that is too long for a request. Returns the path of the text that is too long, or
 * undefined if no text is too long.
 */
function pathOfLongText(value: unknown): string[] | undefined {
  if (typeof value === 'string') return JSON.stringify(value).length > maxTextCharacters ? [] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, each] of Object.entries(value)) {
    const path = pathOfLongText(each);
    if (path) return [name, ...path];
  }
  return undefined;
}

/**
 * If a row contains a text that is too long for a request, returns the reason why the row must be rejected; otherwise
 * returns undefined.
 */
export function longTextRejection(row: unknown) {
  const field = pathOfLongText(row)?.join('.');
  if (field === undefined) return undefined;
  const message = `Must be shorter: a request may contain no text of more than ${maxTextCharacters} characters`;
  return { code: 'VALIDATION_ERROR', message, field };
}
