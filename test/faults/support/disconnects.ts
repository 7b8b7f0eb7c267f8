import { connect, type Socket } from 'node:net';
import { type Access, askGraph } from './tenant.ts';

// These functions simulate clients that disconnect in the middle of a response, and clients that run imports at the
// same time.

/**
 * The ways in which a client disconnects: the client resets the TCP connection, ends its side of the connection, or
 * closes its socket.
 */
const waysToLeave: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) => socket.destroy(),
];

/** Returns the text of an HTTP request that contains a GraphQL query. */
function graphRequest(key: string, query: string, accept: string): string {
  const body = JSON.stringify({ query });
  return (
    `POST /graphql HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${key}\r\nAccept: ${accept}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Returns the text of an HTTP request that reads a whole whitelist over REST. */
const listRequest = ({ key, locationId }: Access, coding: string) =>
  `GET /api/locations/${locationId}/whitelist HTTP/1.1\r\nHost: gateway\r\nX-API-Key: ${key}\r\n` +
  `Accept-Encoding: ${coding}\r\n\r\n`;

/**
 * Returns one request for each kind of streamed response. The gateway sends the first part of a streamed response
 * before the last part exists.
 */
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

/** Sends a request, and disconnects when the first bytes of the response arrive. */
function leaveAtFirstBytes(url: string, request: string, leave: (socket: Socket) => void): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.on('error', () => undefined);
    socket.once('data', () => leave(socket));
    socket.once('close', () => resolve());
  });
}

/**
 * Creates clients that disconnect when the first bytes of a response arrive. Each client requests one of several kinds
 * of streamed response, and disconnects in one of several ways.
 */
export function createDisconnects(url: string, tenant: Access): (index: number) => Promise<void> {
  const requests = requestsOf(tenant);
  return (index) => {
    const leave = waysToLeave[Math.floor(index / requests.length) % waysToLeave.length]!;
    return leaveAtFirstBytes(url, requests[index % requests.length]!, leave);
  };
}

/**
 * Starts `clients.count` clients, of which at most `clients.atOnce` are connected at the same time. Each client
 * disconnects when the first bytes of its response arrive.
 */
export function startDisconnects(url: string, tenant: Access, clients: { count: number; atOnce: number }) {
  const disconnect = createDisconnects(url, tenant);
  let count = 0;
  async function next(): Promise<void> {
    while (count < clients.count) await disconnect(count++);
  }
  return {
    count: () => count,
    /** The promise `left` resolves when all clients have disconnected. */
    left: Promise.all(Array.from({ length: clients.atOnce }, next)),
  };
}

/** The maximum number of rows that the gateway allows in one import. */
const importedRows = 10_000;

/**
 * Sends an import that replaces the whitelist of a location. All imports by this function contain the same plates.
 * Every imported whitelist entry gets the note `note`.
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
