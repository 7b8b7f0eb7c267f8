import { hostileValues } from '../../support/hostile-values.ts';
import { repeat } from './repeat.ts';
import type { Access } from './tenant.ts';

// In the soak test, a hostile client uses up the rate limit of one API key. The hostile client sends the most expensive
// requests, and requests with hostile values, such as null characters or very long texts.

/**
 * The hourly and the minute rate limit of the API key of the hostile client, in rate limit points. The hostile client
 * sends more requests than its rate limits allow.
 */
export const hostileLimits = [6_000, 100] as const;

const aliases = (field: (index: number) => string) =>
  Array.from({ length: 30 }, (_, index) => `a${index}: ${field(index)}`).join(' ');

/** GraphQL queries that cause the most work per rate limit point, for a location with a long whitelist. */
const expensiveQueries = ({ locationId }: Access): string[] => [
  `{ ${aliases((index) => `plateAccess(locationId: "${locationId}", tolerance: 1, reading: { text: "SOBZ ${index}08" }) { reason candidates { entry { id } } }`)} }`,
  `{ ${aliases((index) => `whitelist(locationId: "${locationId}", validAt: "2001-01-01T00:00:${10 + index}Z") { totalCount }`)} }`,
  `{ ${aliases((index) => `whitelist(locationId: "${locationId}", plateNumber: "none-${index}") { nodes { id } }`)} }`,
  `{ whitelistChanges(locationId: "${locationId}", first: 5000) { upserts { id referenceId note createdAt } } }`,
];

/**
 * GraphQL operations that the hostile client sends with a hostile value, such as a very long text, in the variable
 * `$value`.
 */
const operationsWithValue = ({ locationId }: Access): string[] => [
  `query ($value: String) { whitelist(locationId: "${locationId}", plateNumber: $value) { totalCount } }`,
  `query ($value: String) { whitelistChanges(locationId: "${locationId}", after: $value) { cursor } }`,
  `query ($value: String) { quotas(locationId: "${locationId}", referenceId: $value) { nodes { inside } } }`,
  `query ($value: PlateInput!) { plateAccess(locationId: "${locationId}", plate: $value) { reason } }`,
  `mutation ($value: WhitelistEntryInput!) { createWhitelistEntry(locationId: "${locationId}", input: $value) { id } }`,
];

/**
 * Sends requests with an API key, one after the other, until `stop` is called. The function alternates between
 * expensive requests and requests with a hostile value.
 * @throws by the returned function `stop`, if any response contained `INTERNAL_ERROR`
 */
export function startHostileKey(urls: readonly string[], access: Access, pauseMs: number) {
  const expensive = expensiveQueries(access);
  const withValue = operationsWithValue(access);

  /**
   * Returns the body of a request as JSON text. The list `hostileValues` contains JSON texts, such as `1e400`, and not
   * JavaScript values. `JSON.stringify` cannot write the number 1e400, because the number is too large for JavaScript.
   */
  function bodyOf(round: number, isExpensive: boolean): string {
    if (isExpensive) return JSON.stringify({ query: expensive[round % expensive.length] });
    const query = JSON.stringify(withValue[round % withValue.length]);
    return `{"query":${query},"variables":{"value":${hostileValues[round % hostileValues.length]}}}`;
  }

  let answered = 0;
  let internalError: string | undefined;
  const requests = repeat(async (count) => {
    const body = bodyOf(Math.floor(count / 2), count % 2 === 0);
    const response = await fetch(`${urls[count % urls.length]}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': access.key },
      body,
    });
    const text = await response.text();
    if (text.includes('INTERNAL_ERROR')) internalError ??= `${body}\n${text}`;
    if (response.status !== 429) answered += 1;
  }, pauseMs);
  return {
    /** Returns how many requests the client sent, and how many of these requests the rate limit allowed. */
    counts: () => ({ sent: requests.count(), answered }),
    async stop() {
      await requests.stop();
      if (internalError) throw new Error(internalError);
    },
  };
}
