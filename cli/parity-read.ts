import type { GraphAnswer } from './client.ts';
import { type Difference, differencesOf } from './compare.ts';
import { Failure } from './failure.ts';
import { isObject } from './is-object.ts';
import type { Page } from './pages.ts';
import type { RestClient } from './rest-client.ts';

/** The result of comparing a REST response with the equivalent GraphQL response. */
export interface Comparison {
  /** The number of list items that were compared; 1 for a response that is not a list. */
  items: number;
  differences: Difference[];
  /** The reason why the responses could not be compared; `undefined` if the comparison succeeded. */
  obstacle?: string;
}

/**
 * The maximum number of attempts to compare a REST response with a GraphQL response. If the length of a list or the
 * HTTP status changes during a comparison, the data has changed too much, and `pms parity` makes another attempt.
 */
const maxAttempts = 3;
/**
 * Maps an HTTP status to the reason why `pms parity` cannot compare responses with this status. The command shows the
 * reason to the user.
 */
const obstacles = new Map([
  [405, 'the gateway does not allow GET for this path (405)'],
  [410, 'the route is currently switched off (410)'],
]);

/** Returns the comparison result for two responses that could not be compared. */
export const notCompared = (obstacle: string): Comparison => ({ items: 0, differences: [], obstacle });

/**
 * Returns the result of a comparison during which the gateway failed. The function returns a result instead of throwing
 * an error, so that the results of the other comparisons are not lost.
 *
 * @throws the given error if this error is permanent, because all other comparisons would fail with the same error
 */
export function notComparedAfter(error: unknown): Comparison {
  if (!(error instanceof Failure) || !error.temporary) throw error;
  return notCompared(`the gateway failed: ${error.message.split('\n')[0]}`);
}

/** A GraphQL response that was converted to the form of a REST response. */
interface Shown {
  body: unknown;
  items: number;
  /** True if `pms parity` has read only the first pages of a list, and not the whole list. */
  isCut: boolean;
}

const isPage = (value: unknown): value is Page<unknown> =>
  isObject(value) && 'nodes' in value && 'pageInfo' in value;

/** Converts a GraphQL error to the form of a REST error. */
function envelopeOfError({ errors }: GraphAnswer<Record<string, unknown>>) {
  const [{ message, extensions: { code, details } = {} }] = errors as [NonNullable<typeof errors>[number]];
  return { success: false, error: { code, message, ...(details && { details }) } };
}

/** Reads up to `maxPages` pages of a list with the GraphQL request that is equivalent to a REST request. */
async function readFromGraph(
  rest: RestClient,
  path: string,
  maxPages: number,
  isBare: boolean,
): Promise<Shown> {
  const twin = await rest.twinOf({ method: 'GET', path });
  const nodes: unknown[] = [];
  let after: unknown = twin.variables.after;
  for (let pages = 1; ; pages += 1) {
    const answer = await rest.read({
      ...twin,
      variables: { ...twin.variables, ...(after ? { after } : {}) },
    });
    if (answer.errors?.length || !answer.data)
      return { body: envelopeOfError(answer), items: 1, isCut: false };
    const [value] = Object.values(answer.data);
    if (!isPage(value)) {
      return { body: isBare ? value : { success: true, data: value }, items: 1, isCut: false };
    }
    nodes.push(...value.nodes);
    const { hasNextPage, endCursor } = value.pageInfo;
    if (!hasNextPage || pages === maxPages) {
      return { body: { success: true, data: nodes }, items: nodes.length, isCut: hasNextPage };
    }
    after = endCursor;
  }
}

/**
 * Returns the body of a REST response without its request id, so that two responses can be compared. If the GraphQL
 * response contains only the first items of a list, the function removes the later items from the list in the REST
 * response.
 */
function comparable(body: unknown, { items, isCut }: Shown): unknown {
  if (!isObject(body)) return body;
  const { error, data } = body;
  if (isObject(error)) return { success: false, error: { ...error, requestId: undefined } };
  return isCut && Array.isArray(data) ? { ...body, data: data.slice(0, items) } : body;
}

/**
 * Compares a REST response with the equivalent GraphQL response. A change of the data between the REST request and the
 * GraphQL request does not count as a difference. `compareRead` sends the same REST request before and after the
 * GraphQL request. If the two REST responses have different values in a field, `compareRead` ignores this field.
 *
 * @param path the path and query of the REST request, beginning with `/api/`
 * @param maxPages the maximum number of pages to read through GraphQL; a page has 100 items
 */
export async function compareRead(rest: RestClient, path: string, maxPages: number): Promise<Comparison> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await rest.get(path);
    const obstacle = obstacles.get(before.status);
    if (obstacle !== undefined) return notCompared(obstacle);
    const isBare = !isObject(before.body) || !('success' in before.body);
    const shown = await readFromGraph(rest, path, maxPages, isBare);
    const { items } = shown;
    const found = differencesOf(comparable(before.body, shown), shown.body);
    if (found.length === 0) return { items, differences: [] };
    const after = await rest.get(path);
    const changed = differencesOf(comparable(before.body, shown), comparable(after.body, shown));
    const isShifted =
      before.status !== after.status || changed.some(({ field }) => field.endsWith('.length'));
    const fields = new Set(changed.map(({ field }) => field));
    if (!isShifted) return { items, differences: found.filter(({ field }) => !fields.has(field)) };
    if (attempt === maxAttempts) return notCompared('the data kept changing');
  }
}
