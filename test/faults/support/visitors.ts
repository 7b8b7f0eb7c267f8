import { repeat } from './repeat.ts';
import type { Tenant } from './tenant.ts';

// The simulated clients of this file only read data, and some of these clients disconnect early. If the gateway did
// not free the resources of ended requests, its memory use or its number of open files would grow during the test.

/** The maximum time that a request of a simulated client may take, in milliseconds. */
const patienceMs = 20_000;

/** Sends a GraphQL query. The client disconnects when `signal` is aborted. */
const ask = (url: string, key: string, query: string, headers: Record<string, string>, signal: AbortSignal) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...headers },
    body: JSON.stringify({ query }),
    signal,
  });

type Visit = (url: string, tenant: Tenant, leave: AbortController) => Promise<unknown>;

const visits: readonly Visit[] = [
  /** Asks the gateway whether a vehicle may enter, as a gate does. */
  async (url, { key, locationId }, { signal }) => {
    const plate = '{ plateType: "DXB", plateCode: "A", plateNumber: "1" }';
    const query = `{ plateAccess(locationId: "${locationId}", plate: ${plate}) { reason } }`;
    return (await ask(url, key, query, {}, signal)).json();
  },
  /** Reads one page of a whitelist over REST. */
  async (url, { key, locationId }, { signal }) =>
    (
      await fetch(`${url}/api/locations/${locationId}/whitelist?limit=100`, {
        headers: { 'X-API-Key': key },
        signal,
      })
    ).json(),
  /** Requests a whole whitelist, and disconnects at the beginning of the response. */
  async (url, { key, locationId }, leave) => {
    const { body } = await fetch(`${url}/api/locations/${locationId}/whitelist`, {
      headers: { 'X-API-Key': key },
      signal: leave.signal,
    });
    await body!.getReader().read();
    leave.abort();
  },
  /** Subscribes to the status of a location, and disconnects after the first message. */
  async (url, { key, locationId }, leave) => {
    const query = `subscription { locationStatusChanged(locationId: "${locationId}") { occupied } }`;
    const { body } = await ask(url, key, query, { Accept: 'text/event-stream' }, leave.signal);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes('occupied');) text = (await reader.read()).value ?? 'occupied';
    leave.abort();
  },
  /** Sends a request with an invalid API key. */
  async (url, _tenant, { signal }) =>
    (await fetch(`${url}/api/locations`, { headers: { 'X-API-Key': 'no-such-key' }, signal })).text(),
];

/**
 * Sends read requests to the gateways, one after the other, until `stop` is called.
 * @returns the function `count`, which returns the number of requests so far, and the function `stop`, which ends the
 *   requests
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
