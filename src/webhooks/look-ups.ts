import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import type { Resolve } from './name-resolver.ts';

/**
 * How long a failed DNS look-up is cached, in milliseconds. The next attempt to deliver a message never comes earlier.
 */
const failureLifetimeMs = 5_000;
/** The maximum number of failed DNS look-ups in the cache. The least recently used failure is removed first. */
export const maxRememberedFailures = 1_000;

/**
 * The error for a DNS look-up that could not start, because too many DNS look-ups of its company are in progress. The
 * error says nothing about the receiver.
 */
export class LookupNotStartedError extends Error {}

const { refusal } = slotLimits.nameLookups.waiting;

/** Finds the IP addresses of webhook hosts by DNS. Each company has a limit on concurrent DNS look-ups. */
export interface Lookups {
  /**
   * Returns all IP addresses of a host name.
   *
   * @param company the owner of the webhook; empty for an operator's webhook
   * @throws {LookupNotStartedError} when too many DNS look-ups of the company wait, or the signal aborts before the DNS
   *   look-up starts
   * @throws the errors of `Resolve`
   */
  addressesOf(hostname: string, company: string, signal: AbortSignal): Promise<LookupAddress[]>;
}

/** Creates the DNS look-ups of one process, with a limit for each company and a cache of failures. */
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
        // When the signal aborts a DNS look-up that still waits for its slot, the look-up stays in the queue. When it
        // gets the slot, it does nothing.
        signal.addEventListener('abort', () => started || fail(signal.reason), { once: true });
        slots.run(company, work).then(fulfil, fail);
      }),
  };
}
