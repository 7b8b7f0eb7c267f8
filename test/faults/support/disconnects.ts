import { connect, type Socket } from 'node:net';
import { type Access, askGraph } from './tenant.ts';

// This file has clients that disconnect in the middle of a response, and imports that run at the same time.

/**
 * The ways in which a client disconnects: with a TCP reset, after ending its side of the connection, or by closing its
 * socket.
 */
const waysToLeave: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) => socket.destroy(),
];

/** Returns the bytes of a GraphQL request over HTTP, as text. */
function graphRequest(key: string, query: string, accept: string): string {
  const body = JSON.stringify({ query });
  return (
    `POST /graphql HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${key}\r\nAccept: ${accept}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Returns the bytes of a REST request for a whole list, as text. */
const listRequest = ({ key, locationId }: Access, coding: string) =>
  `GET /api/locations/${locationId}/whitelist HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${key}\r\n` +
  `Accept-Encoding: ${coding}\r\n\r\n`;

/** Returns one request for each kind of response that the gateway streams while it creates the content. */
const requestsOf = (tenant: Access): string[] => [
  graphRequest(
    tenant.key,
    `subscription { whitelistChanged(locationId: "${tenant.locationId}") { cursor } }`,
    'text/event-stream',
  ),
  graphRequest(tenant.key, `{ location(id: "${tenant.locationId}") { name } }`, 'multipart/mixed'),
  listRequest(tenant, 'identity'),
  listRequest(tenant, 'gzip'),
  listRequest(tenant, 'br'),
];

/** Sends a request and disconnects at the first bytes of the response. */
function leaveAtFirstBytes(url: string, request: string, leave: (socket: Socket) => void): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on('error', () => undefined);
    socket.once('data', () => leave(socket));
    socket.once('close', () => resolve());
  });
}

/** Creates clients that disconnect at the first bytes, with alternating kinds of responses and of disconnects. */
export function createDisconnects(url: string, tenant: Access): (index: number) => Promise<void> {
  const requests = requestsOf(tenant);
  return (index) => {
    const leave = waysToLeave[Math.floor(index / requests.length) % waysToLeave.length]!;
    return leaveAtFirstBytes(url, requests[index % requests.length]!, leave);
  };
}

/** Runs clients that disconnect at the first bytes of their responses, a few clients at a time. */
export function startDisconnects(url: string, tenant: Access, clients: { count: number; atOnce: number }) {
  const disconnect = createDisconnects(url, tenant);
  let count = 0;
  async function next(): Promise<void> {
    while (count < clients.count) await disconnect(count++);
  }
  return {
    count: () => count,
    /** Resolves when all clients have disconnected. */
    left: Promise.all(Array.from({ length: clients.atOnce }, next)),
  };
}

/** The rows of one import. An import cannot have more rows. */
const importedRows = 10_000;

/**
 * Imports a whole whitelist in place of the previous list. The plates are the same in each import, and the notes
 * differ.
 */
export async function importWhitelist(url: string, { key, locationId }: Access, note: string): Promise<void> {
  await askGraph(
    url,
    key,
    `mutation ($locationId: ID!, $entries: [WhitelistEntryInput!]!) {
      importWhitelistEntries(locationId: $locationId, entries: $entries, mode: REPLACE) { updated created }
    }`,
    {
      locationId,
      entries: Array.from({ length: importedRows }, (_, index) => ({
        referenceId: `unit-${index}`,
        plateType: 'DXB',
        plateCode: 'Z',
        plateNumber: String(index + 1),
        note,
      })),
    },
  );
}
