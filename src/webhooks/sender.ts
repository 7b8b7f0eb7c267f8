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
 * The maximum number of interim responses (status 1xx) before the final response of a receiver. Without a maximum, a
 * receiver that sends endless interim responses would delay all other requests until the end of the attempt.
 */
const maxInterimResponses = 10;

/**
 * The maximum number of IPv4 addresses, and of IPv6 addresses, to which one attempt tries to connect. The owner of a
 * host name can enter thousands of addresses in DNS, and an attempt must not connect to thousands of machines.
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
 * Returns an error with a non-empty message. When a host has several addresses and no connection succeeds, Node throws
 * an error with an empty message, which contains one error for each address.
 */
const withMessage = (error: Error): Error =>
  error instanceof AggregateError && !error.message
    ? new Error((error.errors as Error[]).map(({ message }) => message).join('; '))
    : error;

const refusal = 'The address does not belong to the public Internet';

/**
 * Posts messages to receivers. By default, messages are never posted to the gateway's own machine or to its private
 * network.
 */
export interface WebhookTarget {
  /**
   * Returns the reason why messages cannot be posted to a URL. If messages can be posted, the function returns
   * `undefined`. The function also returns `undefined` if the DNS look-up of the host fails, for example because the
   * host has no IP address yet.
   *
   * @param company the company that owns the webhook; empty for an operator's webhook. The number of DNS look-ups of
   *   each company is limited
   */
  fault(url: string, company: string): Promise<string | undefined>;
  /**
   * Posts a message and returns the HTTP status of the response. The function does not read the response body, and does
   * not follow redirects.
   *
   * @param company the owner of the webhook; empty for an operator's webhook
   * @throws {LookupNotStartedError} when nothing was sent, because the DNS look-up of the host could not start
   * @throws when the receiver is unreachable, does not respond, or has an IP address to which the gateway must not
   *   connect; the error message can be shown to the client
   */
  post(
    url: string,
    company: string,
    message: { headers: Record<string, string>; body: string },
    signal: AbortSignal,
  ): Promise<number>;
}

/**
 * Returns the first IPv4 addresses and the first IPv6 addresses of a list, at most `maxAddressesPerFamily` addresses of
 * each kind.
 */
const firstAddresses = (addresses: readonly LookupAddress[]) =>
  [4, 6].flatMap((wanted) =>
    addresses.filter(({ family }) => family === wanted).slice(0, maxAddressesPerFamily),
  );

/**
 * Creates a look-up function that returns only the given IP addresses. With this function, the HTTP client needs no
 * second DNS look-up to connect to the receiver. The caller must first check that the gateway may connect to the given
 * IP addresses.
 */
const lookupOf =
  (addresses: LookupAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, addresses);
    else callback(null, first!.address, first!.family);
  };

/**
 * Creates the sender of webhook messages. The sender of messages connects only to IP addresses that it has checked. If
 * the IP address of a host changes after the check (DNS rebinding), the sender does not connect to the new address.
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
        // The connection can end without a response and without an error, for example when the receiver switches to
        // another protocol.
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
