import { isIPv4 } from 'node:net';
import type { Context as HonoContext } from 'hono';
import ipaddr from 'ipaddr.js';
import { requestHeader } from '../request-header.ts';
import type { GatewayEnv } from '../request-state.ts';

/**
 * The number of leading bits of an IPv6 address that identify one client. Internet providers assign each customer an
 * IPv6 network with a 64-bit prefix.
 */
const ipv6ClientPrefixBits = 64;
/**
 * The maximum length of an entry of `X-Forwarded-For` that is not an IP address, in characters. If an entry that is not
 * an IP address has more than `maxNameLength` characters, the gateway shortens the entry to `maxNameLength` characters.
 */
const maxNameLength = 64;

/**
 * Returns the client's IP address in canonical form. If the gateway runs behind a trusted proxy, the client's address
 * is the last address in the header `X-Forwarded-For`. The gateway does not trust the addresses before the last
 * address, because the client itself may have sent them.
 */
export function clientAddress(c: HonoContext<GatewayEnv>, trustProxy: boolean): string {
  return addressOf(c.env?.incoming?.socket.remoteAddress, trustProxy && requestHeader(c, 'x-forwarded-for'));
}

/**
 * Returns the IP address of a client in canonical form.
 *
 * @param connected the address of the client or proxy that opened the connection
 * @param forwardedFor the `X-Forwarded-For` header of a trusted proxy
 */
export function addressOf(connected: string | undefined, forwardedFor: string | undefined | false): string {
  const forwarded = forwardedFor ? forwardedFor.split(',').at(-1)?.trim() : undefined;
  return canonicalAddress((forwarded || connected) ?? 'unknown');
}

/**
 * Converts an IP address to its canonical form. An IPv4 address in IPv6 notation (`::ffff:192.0.2.1`) is converted to
 * IPv4 notation. IPv6 addresses are shortened and written in lower case (RFC 5952). The function removes the zone
 * identifier of an IPv6 address (such as `%eth0`), and the port that some proxies add to an address.
 */
export function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text; // an IPv4 address, the most common case, is already canonical
  const withoutPort = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const withoutZone = withoutPort.replace(/%.*$/, '');
  return ipaddr.isValid(withoutZone)
    ? ipaddr.process(withoutZone).toString()
    : text.slice(0, maxNameLength).toLowerCase();
}

/**
 * Returns a text that identifies a client by its canonical address: the IPv4 address itself, or the network that
 * contains the IPv6 address.
 */
export function clientOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6ClientPrefixBits}`);
  return `${network.toString()}/${ipv6ClientPrefixBits}`;
}
