import type { GraphAnswer } from './client.ts';
import { type Difference, differencesOf } from './compare.ts';
import type { Page } from './pages.ts';
import type { RestClient } from './rest-client.ts';

/** What came of a read on both surfaces. */
export interface Comparison {
  /** How many items of a list were compared; 1 for an answer that is no list. */
  items: number;
  differences: Difference[];
  /** Why it could not be compared, if it could not. */
  obstacle?: string;
}

/** How often a read is compared again because the data changed meanwhile. */
const maxAttempts = 3;
/** What a deprecated route answers while it is switched off. */
const switchedOff = 410;

/** What the graph says, as the REST surface would say it. */
interface Shown {
  body: unknown;
  items: number;
  /** The list has more items than were read. */
  isCut: boolean;
}

const isPage = (value: unknown): value is Page<unknown> =>
  typeof value === 'object' && value !== null && 'nodes' in value && 'pageInfo' in value;

/** An error of the graph in the envelope of REST. */
function envelopeOfError({ errors }: GraphAnswer<Record<string, unknown>>) {
  const [{ message, extensions: { code, details } = {} }] = errors as [NonNullable<typeof errors>[number]];
  return { success: false, error: { code, message, ...(details && { details }) } };
}

/** Reads what REST answered to a path from the graph: as many pages as may be. */
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
    const answer = await rest.run({ ...twin, variables: { ...twin.variables, ...(after ? { after } : {}) } });
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

/** An answer of REST without what no two answers have in common, and as long as what was read from the graph. */
function comparable(body: unknown, { items, isCut }: Shown): unknown {
  const { error, data } = body as { error?: Record<string, unknown>; data?: unknown };
  if (error) return { success: false, error: { ...error, requestId: undefined } };
  return isCut && Array.isArray(data) ? { ...(body as object), data: data.slice(0, items) } : body;
}

/**
 * Compares what both surfaces answer to a read. Data that changes between the requests is no difference: what two
 * answers of REST, one before and one after, do not agree on is left out.
 *
 * @param path the path and query, from `/api/` on
 * @param maxPages how many pages of a list are read from the graph, of 100 items each
 */
export async function compareRead(rest: RestClient, path: string, maxPages: number): Promise<Comparison> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await rest.get(path);
    if (before.status === switchedOff) {
      return { items: 0, differences: [], obstacle: 'switched off at present (410)' };
    }
    const isBare = !('success' in (before.body as object));
    const shown = await readFromGraph(rest, path, maxPages, isBare);
    const { items } = shown;
    const found = differencesOf(comparable(before.body, shown), shown.body);
    if (found.length === 0) return { items, differences: [] };
    const after = await rest.get(path);
    const changed = differencesOf(comparable(before.body, shown), comparable(after.body, shown));
    const isShifted = changed.some(({ field }) => field.endsWith('.length'));
    const fields = new Set(changed.map(({ field }) => field));
    if (!isShifted) return { items, differences: found.filter(({ field }) => !fields.has(field)) };
    if (attempt === maxAttempts) return { items: 0, differences: [], obstacle: 'the list kept changing' };
  }
}
