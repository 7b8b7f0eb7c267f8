import { isIPv4 } from 'node:net';
import type { Context as HonoContext } from 'hono';
import ipaddr from 'ipaddr.js';
import { requestHeader } from './request-header.ts';
import type { GatewayEnv } from './request-state.ts';

/** How much of an IPv6 address is one client: a network of this size is what a customer of a provider gets. */
const ipv6ClientPrefixBits = 64;
/** How much is kept of what a proxy names as its client and is no address. */
const maxNameLength = 64;

/**
 * The address of the client, in one form. Behind a trusted proxy that is the last entry of `X-Forwarded-For`: what
 * stands before it came from the client itself.
 */
export function clientAddress(c: HonoContext<GatewayEnv>, trustProxy: boolean): string {
  return addressOf(c.env?.incoming?.socket.remoteAddress, trustProxy && requestHeader(c, 'x-forwarded-for'));
}

/**
 * The address of a client, in one form.
 *
 * @param connected who the connection comes from
 * @param forwardedFor `X-Forwarded-For` of a trusted proxy
 */
export function addressOf(connected: string | undefined, forwardedFor: string | undefined | false): string {
  const forwarded = forwardedFor ? forwardedFor.split(',').at(-1)?.trim() : undefined;
  return canonicalAddress((forwarded || connected) ?? 'unknown');
}

/**
 * An address in one form: IPv4 also when it is written as IPv6 (`::ffff:192.0.2.1`), IPv6 shortened and in lower
 * case (RFC 5952), without a zone and without the port that some proxies add.
 */
export function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text; // most are, and have but one form
  const withoutPort = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const withoutZone = withoutPort.replace(/%.*$/, '');
  return ipaddr.isValid(withoutZone)
    ? ipaddr.process(withoutZone).toString()
    : text.slice(0, maxNameLength).toLowerCase();
}

/** The client behind an address in its one form: the address itself, or the network of an IPv6 address. */
export function clientOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${ipv6ClientPrefixBits}`);
  return `${network.toString()}/${ipv6ClientPrefixBits}`;
}
