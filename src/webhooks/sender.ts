import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';

/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const systemResolve: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });

/** How long the check of a new URL waits for the addresses of its host. */
const lookupTimeoutMs = 2_000;

/** The IPv6 addresses of the public Internet; all others have a special purpose. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public Internet. Loopback, private, link-local, multicast and reserved addresses
 * do not, nor IPv6 addresses that contain such an IPv4 address (IANA special-purpose address registries).
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

/** The host of a URL if it is an address; undefined if it is a name. */
function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) ? host : undefined;
}

const refusal = 'The address does not belong to the public Internet';

/** Posts messages to the servers of clients, and never to a server that only this machine or its network reaches. */
export interface WebhookTarget {
  /** Why messages cannot be posted to a URL; undefined when they can, or when its host has no address yet. */
  fault(url: string): Promise<string | undefined>;
  /**
   * Posts a message and returns the status of the answer. The body is not read, and redirects are not followed.
   *
   * @throws when there is no answer; the message can be shown to the client
   */
  post(
    url: string,
    message: { headers: Record<string, string>; body: string },
    signal: AbortSignal,
  ): Promise<number>;
}

/**
 * Prepares posting to the servers of clients. The addresses of a name are checked when it is resolved for the
 * connection itself: a name whose addresses change after an earlier check (DNS rebinding) is refused too.
 *
 * @param options.allowPrivate allows any address, and http besides https: for development
 */
export function createWebhookTarget(options: { allowPrivate: boolean; resolve?: Resolve }): WebhookTarget {
  const { allowPrivate, resolve = systemResolve } = options;
  const isRefused = (address: string) => !allowPrivate && !isPublicAddress(address);

  const checkedLookup: LookupFunction = (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || addresses.some(({ address }) => isRefused(address))) callback(new Error(refusal), []);
        else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, []),
    );
  };

  return {
    async fault(text) {
      if (!URL.canParse(text)) return 'Must be a URL';
      const url = new URL(text);
      if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
        return 'Must be an https URL';
      if (url.username || url.password) return 'Must not contain a user name or a password';
      const literal = literalAddress(url);
      const addresses = literal
        ? [{ address: literal }]
        : await Promise.race([
            resolve(url.hostname).catch(() => []),
            sleep(lookupTimeoutMs, [], { ref: false }),
          ]);
      return addresses.some(({ address }) => isRefused(address)) ? refusal : undefined;
    },
    post: (text, { headers, body }, signal) =>
      new Promise((fulfil, reject) => {
        const url = new URL(text);
        const literal = literalAddress(url);
        if (literal && isRefused(literal)) throw new Error(refusal);
        const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
        const request = send(url, {
          method: 'POST',
          headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
          agent: false,
          lookup: checkedLookup,
          signal,
        });
        request.on('error', reject);
        // The connection ended without a response, for instance by a change of protocol.
        request.on('close', () => reject(new Error('The connection ended without an answer')));
        request.on('response', (response: IncomingMessage) => {
          fulfil(response.statusCode ?? 0);
          response.on('error', () => undefined).destroy();
        });
        request.end(body);
      }),
  };
}
