import { repeat } from './repeat.ts';
import type { Tenant } from './tenant.ts';

// These clients only read, and some disconnect early. A leak after their requests shows as growing memory or
// descriptors.

/** The maximum duration of a visit, in milliseconds. */
const patienceMs = 20_000;

/** Sends a query, which is aborted when the client leaves. */
const ask = (url: string, key: string, query: string, headers: Record<string, string>, signal: AbortSignal) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...headers },
    body: JSON.stringify({ query }),
    signal,
  });

type Visit = (url: string, tenant: Tenant, leave: AbortController) => Promise<unknown>;

const visits: readonly Visit[] = [
  /** A gate asks for a decision. */
  async (url, { key, locationId }, { signal }) => {
    const plate = '{ plateType: "DXB", plateCode: "A", plateNumber: "1" }';
    const query = `{ plateAccess(locationId: "${locationId}", plate: ${plate}) { reason } }`;
    return (await ask(url, key, query, {}, signal)).json();
  },
  /** A client reads a page of a list. */
  async (url, { key, locationId }, { signal }) =>
    (
      await fetch(`${url}/api/locations/${locationId}/whitelist?limit=100`, {
        headers: { 'X-API-Key': key },
        signal,
      })
    ).json(),
  /** A client leaves at the beginning of a whole list. */
  async (url, { key, locationId }, leave) => {
    const { body } = await fetch(`${url}/api/locations/${locationId}/whitelist`, {
      headers: { 'X-API-Key': key },
      signal: leave.signal,
    });
    await body!.getReader().read();
    leave.abort();
  },
  /** A client leaves a subscription after its first message. */
  async (url, { key, locationId }, leave) => {
    const query = `subscription { locationStatusChanged(locationId: "${locationId}") { occupied } }`;
    const { body } = await ask(url, key, query, { Accept: 'text/event-stream' }, leave.signal);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes('occupied');) text = (await reader.read()).value ?? 'occupied';
    leave.abort();
  },
  /** A client has an invalid key. */
  async (url, _tenant, { signal }) =>
    (await fetch(`${url}/api/locations`, { headers: { 'X-API-Key': 'no-such-key' }, signal })).text(),
];

/**
 * Sends read requests to the gateways, one after the other, until stopped.
 * @returns the number of visits, and a function that stops the requests
 */
export function startVisitors(urls: readonly string[], tenant: Tenant, pauseMs: number) {
  async function visit(count: number): Promise<void> {
    const leave = new AbortController();
    const patience = setTimeout(() => leave.abort(), patienceMs);
    const comes = visits[count % visits.length]!;
    await comes(urls[count % urls.length]!, tenant, leave).catch((error: Error) => {
      if (!leave.signal.aborted) throw error;
    });
    clearTimeout(patience);
  }
  return repeat(visit, pauseMs);
}
