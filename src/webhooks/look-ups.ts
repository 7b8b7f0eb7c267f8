import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import type { Resolve } from './name-resolver.ts';

/**
 * How long a failed DNS look-up is cached, in milliseconds. The pause between two delivery attempts is never shorter
 * than this time. Each retry therefore starts a new DNS look-up.
 */
const failureLifetimeMs = 5_000;
/**
 * The maximum number of failed DNS look-ups in the cache. When the cache is full, the least recently used failed
 * look-up is removed first.
 */
export const maxRememberedFailures = 1_000;

/**
 * The error for a DNS look-up that did not start, for example because the company that owns the webhook had too many
 * DNS look-ups in progress. A `LookupNotStartedError` does not mean that the receiver of the webhook has failed.
 */
export class LookupNotStartedError extends Error {}

const { refusal } = slotLimits.nameLookups.waiting;

/** Finds the IP addresses of webhook hosts by DNS. The number of concurrent DNS look-ups of each company is limited. */
export interface Lookups {
  /**
   * Returns all IP addresses of a host name.
   *
   * @param company the owner of the webhook; empty for an operator's webhook
   * @throws {LookupNotStartedError} when too many DNS look-ups of the company wait, or when `signal` is aborted
   *   before the DNS look-up starts
   * @throws when the host name has no address; the gateway may show the error message to clients
   */
  addressesOf(hostname: string, company: string, signal: AbortSignal): Promise<LookupAddress[]>;
}

/**
 * Creates the DNS client of one process, with a limit on the concurrent look-ups of each company, and with a cache of
 * failed look-ups.
 */
export function createLookups(resolve: Resolve): Lookups {
  const slots = createSlots(slotLimits.nameLookups);
  const failures = new LRUCache<string, Error>({ max: maxRememberedFailures, ttl: failureLifetimeMs });

  async function lookUp(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
    const failure = failures.get(hostname);
    if (failure) throw failure;
    try {
      return await resolve(hostname, signal);
    } catch (error) {
      if (!signal.aborted) failures.set(hostname, error as Error);
      throw error;
    }
  }

  return {
    addressesOf: (hostname, company, signal) =>
      new Promise((fulfil, reject) => {
        let started = false;
        const work = async () => {
          signal.throwIfAborted();
          started = true;
          return lookUp(hostname, signal);
        };
        const fail = (error: unknown) => reject(started ? error : new LookupNotStartedError(refusal));
        // A DNS look-up that waits in the queue stays there even after it is aborted. When the queue can start this DNS
        // look-up, the look-up ends without a DNS request.
        signal.addEventListener('abort', () => started || fail(signal.reason), { once: true });
        slots.run(company, work).then(fulfil, fail);
      }),
  };
}
