import { isIPv4 } from 'node:net';
import type { Context as HonoContext } from 'hono';
import ipaddr from 'ipaddr.js';
import { requestHeader } from '../request-header.ts';
import type { GatewayEnv } from '../request-state.ts';

/**
 * The length of the IPv6 prefix that identifies one client, in bits. Internet providers assign a network of this size
 * to a client.
 */
const ipv6ClientPrefixBits = 64;
/** The maximum length of an `X-Forwarded-For` entry that is not an address, in characters. Longer entries are cut. */
const maxNameLength = 64;

/**
 * Returns the client's address in canonical form. Behind a trusted proxy, the address is the last entry of
 * `X-Forwarded-For`, because the client itself may have sent the earlier entries.
 */
export function clientAddress(c: HonoContext<GatewayEnv>, trustProxy: boolean): string {
  return addressOf(c.env?.incoming?.socket.remoteAddress, trustProxy && requestHeader(c, 'x-forwarded-for'));
}

/**
 * The address of a client in canonical form.
 *
 * @param connected the remote address of the connection
 * @param forwardedFor the `X-Forwarded-For` header of a trusted proxy
 */
export function addressOf(connected: string | undefined, forwardedFor: string | undefined | false): string {
  const forwarded = forwardedFor ? forwardedFor.split(',').at(-1)?.trim() : undefined;
  return canonicalAddress((forwarded || connected) ?? 'unknown');
}

/**
 * Converts an address to its canonical form. IPv4 written as IPv6 (`::ffff:192.0.2.1`) becomes IPv4. IPv6 is shortened
 * and in lower case (RFC 5952). The zone, and the port that some proxies add, are removed.
 */
export function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text; // an IPv4 address, which is the usual case, is already canonical
  const withoutPort = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const withoutZone = withoutPort.replace(/%.*$/, '');
  return ipaddr.isValid(withoutZone)
    ? ipaddr.process(withoutZone).toString()
    : text.slice(0, maxNameLength).toLowerCase();
}

/** Returns the client behind a canonical address: the IPv4 address itself, or the network of an IPv6 address. */
export function clientOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6ClientPrefixBits}`);
  return `${network.toString()}/${ipv6ClientPrefixBits}`;
}
