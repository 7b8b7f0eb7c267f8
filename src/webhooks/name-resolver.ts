import { type LookupAddress, NODATA, NOTFOUND, TIMEOUT, CANCELLED } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/**
 * Returns all IP addresses of a host name. When `signal` is aborted, the DNS look-up ends immediately.
 *
 * @throws when the host name has no address; the gateway may show the error message to clients
 */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>;

/** The time limit of one DNS look-up, including all attempts and name servers, in milliseconds. */
const lookupTimeoutMs = 5_000;
/**
 * How long the first attempt of a DNS look-up waits for the answer of a name server, in milliseconds. The second
 * attempt of a DNS look-up waits longer for the name server than the first attempt.
 */
const serverTimeoutMs = 1_500;
const triesPerServer = 2;

const loopbackAddresses: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const withoutFinalDot = (hostname: string) => hostname.toLowerCase().replace(/\.$/, '');

/** Returns the IP addresses that a hosts file (hosts(5)) lists for a host name, in the order of the file. */
export function addressesInHosts(file: string, hostname: string): LookupAddress[] {
  const wanted = withoutFinalDot(hostname);
  return file.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    return family !== 0 && names.some((name) => name.toLowerCase() === wanted) ? [{ address, family }] : [];
  });
}

/** Returns the error message of a failed DNS look-up. The owner of the webhook can see this error message. */
function failureMessage(hostname: string, code: string | undefined): string {
  if (code === NOTFOUND || code === NODATA) return `The host name ${hostname} has no address`;
  if (code === TIMEOUT || code === CANCELLED) return `The name server of ${hostname} did not answer`;
  return `The lookup of the host name ${hostname} failed (${code})`;
}

/**
 * Creates a function that finds the IP addresses of a host name. The function uses DNS only if the hosts file does not
 * list the host name. `dns.lookup` of Node.js would occupy a thread for each look-up, and unresponsive name servers
 * could occupy all threads. The resolver that this function creates uses no threads, and each DNS look-up can be
 * cancelled. DNS search domains are not supported.
 *
 * @param options.nameServers the addresses of the name servers, with optional ports; by default, the function uses the
 *   name servers of the system
 * @param options.hostsPath the path of the hosts file. The function reads the file at each call, and treats a missing
 *   file as an empty file
 */
export function createNameResolver(
  options: { nameServers?: readonly string[] | undefined; hostsPath?: string } = {},
): Resolve {
  const { nameServers = [], hostsPath = '/etc/hosts' } = options;

  return async (hostname, signal) => {
    const listed = addressesInHosts(await readFile(hostsPath, 'utf8').catch(() => ''), hostname);
    if (listed.length > 0) return listed;
    // Host names that end in `localhost` are never sent to a name server (RFC 6761, section 6.3).
    if (/(^|\.)localhost$/.test(withoutFinalDot(hostname))) return loopbackAddresses;

    // Each DNS look-up has a separate resolver, so that the gateway can cancel each look-up separately. If the name
    // servers of the system have changed, a new resolver uses the new name servers.
    const resolver = new Resolver({ timeout: serverTimeoutMs, tries: triesPerServer });
    if (nameServers.length > 0) resolver.setServers(nameServers);
    const cancel = () => resolver.cancel();
    const timer = setTimeout(cancel, lookupTimeoutMs);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      signal.throwIfAborted();
      const addresses = answers.flatMap((answer, index) =>
        answer.status === 'fulfilled'
          ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
          : [],
      );
      if (addresses.length > 0) return addresses;
      const [first] = answers as PromiseRejectedResult[];
      throw new Error(failureMessage(hostname, (first!.reason as NodeJS.ErrnoException).code));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  };
}
