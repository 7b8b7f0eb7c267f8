import { randomBytes } from 'node:crypto';

/** Returns an IPv6 address in a random network, because each test and each test run must use a different network. */
export function newAddress(): string {
  const network = randomBytes(4).toString('hex');
  return `2001:db8:${network.slice(0, 4)}:${network.slice(4)}::1`;
}
