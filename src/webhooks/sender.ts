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

/** How long the check of a new address waits for its name, in milliseconds. */
const longestLookup = 2_000;

/** The addresses of the whole Internet in IPv6; whatever is elsewhere is special. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public Internet: not loopback, private, link-local, multicast, reserved, nor
 * an IPv4 address of that kind inside of an IPv6 address (IANA special-purpose address registries).
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

/** The host of a URL as an address, if it is one and not a name. */
function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) ? host : undefined;
}

const refusal = 'The address is not one of the public Internet';

/** Sends messages to the servers of clients, and to no server that only this machine or its network reaches. */
export interface WebhookTarget {
  /** Why messages cannot be sent to a URL; undefined when they can, or when its name is not known yet. */
  fault(url: string): Promise<string | undefined>;
  /**
   * Posts a message and returns the status of the answer, whose body is not read. Redirects are not followed.
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
 * Creates the way to the servers of clients. An address is checked when a name was resolved for the very
 * connection that is opened, so that a name that changes in between (DNS rebinding) gets nowhere.
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
            sleep(longestLookup, [], { ref: false }),
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
        // An answer that is none, such as a change of protocol.
        request.on('close', () => reject(new Error('The connection ended without an answer')));
        request.on('response', (response: IncomingMessage) => {
          fulfil(response.statusCode ?? 0);
          response.on('error', () => undefined).destroy();
        });
        request.end(body);
      }),
  };
}
