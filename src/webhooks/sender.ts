import type { LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Lookups } from './look-ups.ts';

/** How long a request to create a webhook waits for the DNS look-up of the webhook's host, in milliseconds. */
const lookupTimeoutMs = 2_000;

/** The range of IPv6 addresses of the public Internet. IPv6 addresses outside this range have a special purpose. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an IP address belongs to the public Internet. The result is false for loopback, private, link-local,
 * multicast and reserved addresses (IANA special-purpose address registries). It is also false for IPv6 addresses that
 * contain an IPv4 address of this kind.
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

/** Returns the host of a URL if the host is an IP address, or undefined if the host is a name. */
function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) ? host : undefined;
}

const refusal = 'The address does not belong to the public Internet';

/** Posts messages to receivers. It never connects to the gateway's own machine or to its private network. */
export interface WebhookTarget {
  /**
   * Returns the reason why messages cannot be posted to a URL. The result is undefined when there is no such reason, or
   * when the host has no IP address yet.
   *
   * @param company the owner of the webhook, for the limit on its DNS look-ups; empty for an operator's webhook
   */
  fault(url: string, company: string): Promise<string | undefined>;
  /**
   * Posts a message and returns the HTTP status of the response. The response body is not read, and redirects are not
   * followed.
   *
   * @param company the owner of the webhook, as for `fault`
   * @throws {LookupNotStartedError} when nothing was sent, because the DNS look-up of the host could not start
   * @throws when there is no response; the message can be shown to the client
   */
  post(
    url: string,
    company: string,
    message: { headers: Record<string, string>; body: string },
    signal: AbortSignal,
  ): Promise<number>;
}

/** Passes the checked IP addresses to a connection, so that there is no second DNS look-up. */
const lookupOf =
  (addresses: LookupAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, addresses);
    else callback(null, first!.address, first!.family);
  };

/**
 * Creates the object that posts messages. It connects only to IP addresses that it has checked. If the address of a
 * host changes between the check and the connection (DNS rebinding), the message is not sent to the new address.
 *
 * @param options.allowPrivate allows any IP address, and http as well as https; for development
 */
export function createWebhookTarget(options: { allowPrivate: boolean; lookups: Lookups }): WebhookTarget {
  const { allowPrivate, lookups } = options;
  const isRefused = (address: string) => !allowPrivate && !isPublicAddress(address);

  /** Returns all IP addresses of the host of a URL. */
  async function addressesOf(url: URL, company: string, signal: AbortSignal): Promise<LookupAddress[]> {
    const literal = literalAddress(url);
    return literal
      ? [{ address: literal, family: isIP(literal) }]
      : lookups.addressesOf(url.hostname, company, signal);
  }

  return {
    async fault(text, company) {
      if (!URL.canParse(text)) return 'Must be a URL';
      const url = new URL(text);
      if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
        return 'Must be an https URL';
      if (url.username || url.password) return 'Must not contain a user name or a password';
      const signal = AbortSignal.timeout(lookupTimeoutMs);
      const addresses = await addressesOf(url, company, signal).catch(() => []);
      return addresses.some(({ address }) => isRefused(address)) ? refusal : undefined;
    },
    async post(text, company, { headers, body }, signal) {
      const url = new URL(text);
      const addresses = await addressesOf(url, company, signal);
      if (addresses.some(({ address }) => isRefused(address))) throw new Error(refusal);
      return new Promise((fulfil, reject) => {
        const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
        const request = send(url, {
          method: 'POST',
          headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
          agent: false,
          lookup: lookupOf(addresses),
          signal,
        });
        request.on('error', reject);
        // A connection can end without a response, for example after a switch of protocols.
        request.on('close', () => reject(new Error('The connection ended without an answer')));
        request.on('response', (response: IncomingMessage) => {
          fulfil(response.statusCode ?? 0);
          response.on('error', () => undefined).destroy();
        });
        request.end(body);
      });
    },
  };
}
