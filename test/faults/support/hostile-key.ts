import { hostileValues } from '../../support/hostile-values.ts';
import { repeat } from './repeat.ts';
import type { Access } from './tenant.ts';

// The hostile key of the soak spends its rate limit on the most expensive requests, and on values that no client should
// send.

/** The key's rate limit for an hour and for a minute, in points. The key sends more requests than the limit allows. */
export const hostileLimits = [6_000, 100] as const;

const aliases = (field: (index: number) => string) =>
  Array.from({ length: 30 }, (_, index) => `a${index}: ${field(index)}`).join(' ');

/** The requests that are the most expensive in relation to their points, over a location with a long whitelist. */
const expensiveQueries = ({ locationId }: Access): string[] => [
  `{ ${aliases((index) => `plateAccess(locationId: "${locationId}", tolerance: 1, reading: { text: "SOBZ ${index}08" }) { reason candidates { entry { id } } }`)} }`,
  `{ ${aliases((index) => `whitelist(locationId: "${locationId}", validAt: "2001-01-01T00:00:${10 + index}Z") { totalCount }`)} }`,
  `{ ${aliases((index) => `whitelist(locationId: "${locationId}", plateNumber: "none-${index}") { nodes { id } }`)} }`,
  `{ whitelistChanges(locationId: "${locationId}", first: 5000) { upserts { id referenceId note createdAt } } }`,
];

/** GraphQL operations with a variable whose value may have any form, such as company settings. */
const operationsWithValue = ({ locationId }: Access): string[] => [
  `query ($value: String) { whitelist(locationId: "${locationId}", plateNumber: $value) { totalCount } }`,
  `query ($value: String) { whitelistChanges(locationId: "${locationId}", after: $value) { cursor } }`,
  `query ($value: String) { quotas(locationId: "${locationId}", referenceId: $value) { nodes { inside } } }`,
  `query ($value: PlateInput!) { plateAccess(locationId: "${locationId}", plate: $value) { reason } }`,
  `mutation ($value: WhitelistEntryInput!) { createWhitelistEntry(locationId: "${locationId}", input: $value) { id } }`,
];

/**
 * Sends hostile requests with a key, one after the other, until stopped: first an expensive request, then a hostile
 * value.
 * @throws (from `stop`) when a request is answered with `INTERNAL_ERROR`
 */
export function startHostileKey(urls: readonly string[], access: Access, pauseMs: number) {
  const expensive = expensiveQueries(access);
  const withValue = operationsWithValue(access);

  /** The JSON text of a request. Some hostile values cannot be written as JavaScript values. */
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
    /** The number of requests that the key sent, and how many of these requests were within the limit. */
    counts: () => ({ sent: requests.count(), answered }),
    async stop() {
      await requests.stop();
      if (internalError) throw new Error(internalError);
    },
  };
}
