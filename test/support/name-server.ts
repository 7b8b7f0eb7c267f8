import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterAll } from 'vitest';

const typeA = 1;
const nameError = 3;

/** A DNS name server that a test starts. */
export interface NameServer {
  /** The address and port of the name server, in the format of WEBHOOK_DNS_SERVERS. */
  address: string;
  /** The host names in the DNS queries that have arrived so far, in the order of arrival. */
  asked: string[];
}

/**
 * Reads a DNS query with one question (RFC 1035, section 4.1.2). Returns the host name, and the position in the DNS
 * query at which the host name ends.
 */
function readName(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = message[offset]!; length > 0; length = message[offset]!) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: offset + 1 };
}

/**
 * Creates the response to a DNS query. The DNS response contains IPv4 addresses, or the error code for a name that does
 * not exist.
 */
function responseTo(message: Buffer, questionEnd: number, addresses: string[] | undefined): Buffer {
  const isIpv4Question = message.readUInt16BE(questionEnd) === typeA;
  const found = isIpv4Question ? (addresses ?? []) : [];
  const header = Buffer.from(message.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (addresses ? 0 : nameError), 2);
  header.writeUInt16BE(found.length, 6);
  header.writeUInt32BE(0, 8);
  const records = found.map((address) =>
    Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, message.subarray(12, questionEnd + 4), ...records]);
}

/**
 * Starts a DNS name server on loopback. The name server closes after the last test of the file. For each given host
 * name, the name server returns its IPv4 addresses. The name server never responds to a query for `silent.test` or for
 * a name below `silent.test`. For every unknown name, the name server responds that the name does not exist.
 */
export async function startNameServer(addresses: Record<string, string[]> = {}): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, end } = readName(message);
    asked.push(name);
    if (!name.endsWith('silent.test')) socket.send(responseTo(message, end, addresses[name]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  afterAll(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}
