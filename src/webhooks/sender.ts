import type { LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction, type TcpSocketConnectOpts } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Lookups } from './look-ups.ts';

/**
 * How long a request to create or change a webhook waits for the DNS look-up of the webhook's host, in milliseconds.
 */
const lookupTimeoutMs = 2_000;

/**
 * How long a connection to one address of a host may take before Node tries the next address, in milliseconds. By
 * default, Node tries the next address after 250 ms, which is too short for receivers on another continent.
 */
const connectTimeoutMs = 3_000;

/**
 * The maximum number of interim responses (status 1xx) before the final response of a receiver. If the number of
 * interim responses had no maximum, a receiver could send endless interim responses, and delay all other requests until
 * the delivery attempt ends.
 */
const maxInterimResponses = 10;

/**
 * The maximum number of IPv4 addresses, and also of IPv6 addresses, to which one delivery attempt tries to connect. The
 * owner of a host name can enter thousands of addresses in DNS, and a delivery attempt must not connect to thousands of
 * machines.
 */
const maxAddressesPerFamily = 10;

/** The range of IPv6 addresses of the public Internet. IPv6 addresses outside `2000::/3` have a special purpose. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * Whether an IP address belongs to the public Internet. Loopback, private, link-local, multicast and reserved addresses
 * do not belong to the public Internet (IANA special-purpose address registries). An IPv6 address that contains a
 * private IPv4 address, such as `::ffff:10.0.0.1`, is also private.
 */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

/** Returns the host of a URL if the host is an IP address, or `undefined` if the host is a host name. */
function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '');
  return isIP(host) ? host : undefined;
}

/**
 * Returns an error whose message is never empty. When no connection to any address of a host succeeds, Node throws an
 * error with an empty message. Node's error contains a separate error for each address of the host.
 */
const withMessage = (error: Error): Error =>
  error instanceof AggregateError && !error.message
    ? new Error((error.errors as Error[]).map(({ message }) => message).join('; '))
    : error;

const refusal = 'The address does not belong to the public Internet';

/**
 * Posts messages to receivers. By default, the gateway never posts webhook messages to its own machine or to its
 * private network.
 */
export interface WebhookTarget {
  /**
   * Returns the reason why the gateway cannot post webhook messages to a URL. If the gateway can post webhook messages
   * to the URL, the function returns `undefined`. The function also returns `undefined` if the DNS look-up of the host
   * fails, for example because the host has no IP address yet.
   *
   * @param company the company that owns the webhook; empty for an operator's webhook. The gateway limits the number of
   *   concurrent DNS look-ups for each company
   */
  fault(url: string, company: string): Promise<string | undefined>;
  /**
   * Posts a webhook message to the receiver, and returns the HTTP status of the response. The function does not read
   * the response body, and does not follow redirects.
   *
   * @param company the owner of the webhook; empty for an operator's webhook
   * @throws {LookupNotStartedError} when nothing was sent, because the DNS look-up of the host could not start
   * @throws when the receiver is unreachable, does not respond, or has a forbidden IP address; the error message can be
   *   shown to the client
   */
  post(
    url: string,
    company: string,
    message: { headers: Record<string, string>; body: string },
    signal: AbortSignal,
  ): Promise<number>;
}

/**
 * From a list of IP addresses, returns the first `maxAddressesPerFamily` IPv4 addresses and the first
 * `maxAddressesPerFamily` IPv6 addresses.
 */
const firstAddresses = (addresses: readonly LookupAddress[]) =>
  [4, 6].flatMap((wanted) =>
    addresses.filter(({ family }) => family === wanted).slice(0, maxAddressesPerFamily),
  );

/**
 * Creates a function for DNS look-ups that returns only the given IP addresses. With this function, the HTTP client
 * needs no second DNS look-up to connect to the receiver. Before the call, the caller must check that the gateway may
 * connect to the given IP addresses.
 */
const lookupOf =
  (addresses: LookupAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, addresses);
    else callback(null, first!.address, first!.family);
  };

/**
 * Creates the object that checks the URLs of webhooks and posts webhook messages. The sender of webhook messages
 * connects only to IP addresses that it has checked. If the IP address of a host changes after the check (DNS
 * rebinding), the sender does not connect to the new address.
 *
 * @param options.allowPrivate true if the sender may connect to private IP addresses, and may use http URLs; only for
 *   development
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
        const options: RequestOptions & Pick<TcpSocketConnectOpts, 'autoSelectFamilyAttemptTimeout'> = {
          method: 'POST',
          headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
          agent: false,
          lookup: lookupOf(firstAddresses(addresses)),
          autoSelectFamilyAttemptTimeout: connectTimeoutMs,
          signal,
        };
        const request = send(url, options);
        request.on('error', (error) => reject(withMessage(error)));
        let interimResponses = 0;
        request.on('information', () => {
          interimResponses += 1;
          if (interimResponses > maxInterimResponses)
            request.destroy(
              new Error(`The receiver sent more than ${maxInterimResponses} interim responses (status 1xx)`),
            );
        });
        // The connection to the receiver can end without a response and without an error, for example when the receiver
        // switches to another protocol.
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
