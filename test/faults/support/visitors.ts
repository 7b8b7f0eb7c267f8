import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from './tenant.ts';

// Clients that only read, well-behaved ones and others: what they leave behind shows as memory or descriptors.

/** How long a visitor waits for what it came for, in milliseconds. */
const patienceMs = 20_000;

/** Asks the graph, and gives the answer up when the client leaves. */
const ask = (url: string, key: string, query: string, headers: Record<string, string>, signal: AbortSignal) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': key, ...headers },
    body: JSON.stringify({ query }),
    signal,
  });

type Visit = (url: string, tenant: Tenant, leave: AbortController) => Promise<unknown>;

const visits: readonly Visit[] = [
  /** A gate. */
  async (url, { key, locationId }, { signal }) => {
    const plate = '{ plateType: "DXB", plateCode: "A", plateNumber: "1" }';
    const query = `{ plateAccess(locationId: "${locationId}", plate: ${plate}) { reason } }`;
    return (await ask(url, key, query, {}, signal)).json();
  },
  /** A page of a list. */
  async (url, { key, locationId }, { signal }) =>
    (
      await fetch(`${url}/api/locations/${locationId}/whitelist?limit=100`, {
        headers: { 'X-API-Key': key },
        signal,
      })
    ).json(),
  /** A whole list whose reader leaves at its beginning. */
  async (url, { key, locationId }, leave) => {
    const { body } = await fetch(`${url}/api/locations/${locationId}/whitelist`, {
      headers: { 'X-API-Key': key },
      signal: leave.signal,
    });
    await body!.getReader().read();
    leave.abort();
  },
  /** A subscription that ends after its first message. */
  async (url, { key, locationId }, leave) => {
    const query = `subscription { locationStatusChanged(locationId: "${locationId}") { occupied } }`;
    const { body } = await ask(url, key, query, { Accept: 'text/event-stream' }, leave.signal);
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ''; !text.includes('occupied');) text = (await reader.read()).value ?? 'occupied';
    leave.abort();
  },
  /** Somebody without a key. */
  async (url, _tenant, { signal }) =>
    (await fetch(`${url}/api/locations`, { headers: { 'X-API-Key': 'no-such-key' }, signal })).text(),
];

/**
 * Sends visitors to the gateways, one after the other, until it is stopped.
 *
 * @returns how many came, and what ends it
 */
export function startVisitors(urls: readonly string[], tenant: Tenant, pauseMs: number) {
  let stopped = false;
  let count = 0;
  async function visit(): Promise<void> {
    for (; !stopped; count += 1) {
      const leave = new AbortController();
      const patience = setTimeout(() => leave.abort(), patienceMs);
      const comes = visits[count % visits.length]!;
      await comes(urls[count % urls.length]!, tenant, leave).catch((error: Error) => {
        if (!leave.signal.aborted) throw error;
      });
      clearTimeout(patience);
      await sleep(pauseMs);
    }
  }
  const running = visit();
  return {
    count: () => count,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
