import { isIPv4 } from 'node:net';
import type { Context as HonoContext } from 'hono';
import ipaddr from 'ipaddr.js';
import { requestHeader } from '../request-header.ts';
import type { GatewayEnv } from '../request-state.ts';

/**
 * The number of leading bits of an IPv6 address that identify one client. Internet providers assign a network of this
 * size to each client.
 */
const ipv6ClientPrefixBits = 64;
/**
 * The maximum length of an `X-Forwarded-For` entry that is not an IP address, in characters. Longer entries are cut.
 */
const maxNameLength = 64;

/**
 * Returns the client's IP address in canonical form. Behind a trusted proxy, the address is the last entry of
 * `X-Forwarded-For`. The client itself may have sent the earlier entries.
 */
export function clientAddress(c: HonoContext<GatewayEnv>, trustProxy: boolean): string {
  return addressOf(c.env?.incoming?.socket.remoteAddress, trustProxy && requestHeader(c, 'x-forwarded-for'));
}

/**
 * Returns the IP address of a client in canonical form.
 *
 * @param connected the remote address of the connection
 * @param forwardedFor the `X-Forwarded-For` header of a trusted proxy
 */
export function addressOf(connected: string | undefined, forwardedFor: string | undefined | false): string {
  const forwarded = forwardedFor ? forwardedFor.split(',').at(-1)?.trim() : undefined;
  return canonicalAddress((forwarded || connected) ?? 'unknown');
}

/**
 * Converts an IP address to its canonical form. An IPv4 address in IPv6 notation (`::ffff:192.0.2.1`) becomes IPv4.
 * IPv6 addresses are shortened and written in lower case (RFC 5952). A zone is removed, and so is a port, which some
 * proxies add.
 */
export function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text; // the usual case: IPv4 addresses are already canonical
  const withoutPort = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const withoutZone = withoutPort.replace(/%.*$/, '');
  return ipaddr.isValid(withoutZone)
    ? ipaddr.process(withoutZone).toString()
    : text.slice(0, maxNameLength).toLowerCase();
}

/**
 * Returns the text that identifies the client with a canonical address: the IPv4 address itself, or the network of an
 * IPv6 address.
 */
export function clientOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6ClientPrefixBits}`);
  return `${network.toString()}/${ipv6ClientPrefixBits}`;
}
