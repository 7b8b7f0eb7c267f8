import type { LookupAddress } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { createLookups, LookupNotStartedError, maxRememberedFailures } from '../../src/webhooks/look-ups.ts';
import { slotLimits } from '../../src/scheduling/limits.ts';
import { addressesInHosts, type Resolve } from '../../src/webhooks/name-resolver.ts';
import { createWebhookTarget } from '../../src/webhooks/sender.ts';

const { runningPerOwner: maxLookupsPerCompany, waiting } = slotLimits.nameLookups;
const maxWaitingPerCompany = waiting.perOwner;

const publicAddresses: LookupAddress[] = [{ address: '8.8.8.8', family: 4 }];
/** Returns an abort signal that is never aborted. */
const patient = () => new AbortController().signal;

/**
 * Creates a fake DNS resolver that never responds for names below `silent.test`. The list `asked` contains the host
 * name of each DNS look-up.
 */
function partlySilent() {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, signal) => {
    asked.push(hostname);
    if (!hostname.endsWith('silent.test')) return Promise.resolve(publicAddresses);
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
  };
  return { resolve, asked };
}

/**
 * Starts the given number of DNS look-ups for one company. The DNS look-ups end only when the test aborts them with the
 * `AbortController` that this function returns.
 */
function fillShare(lookups: ReturnType<typeof createLookups>, company: string, count: number) {
  const abort = new AbortController();
  const results = Array.from({ length: count }, (_, index) =>
    lookups
      .addressesOf(`${index}.silent.test`, company, AbortSignal.any([abort.signal]))
      .catch((error: unknown) => error),
  );
  return { abort, results };
}

describe('DNS look-ups of webhook receivers', () => {
  test('when the name server for one company does not respond, DNS look-ups for another company do not wait', async () => {
    const { resolve } = partlySilent();
    const lookups = createLookups(resolve);
    const { abort, results } = fillShare(lookups, 'silent', maxLookupsPerCompany + maxWaitingPerCompany);
    expect(await lookups.addressesOf('a.example', 'other', patient())).toEqual(publicAddresses);
    const target = createWebhookTarget({ allowPrivate: false, lookups });
    expect(await target.fault('https://a.example/', 'other')).toBeUndefined();
    abort.abort();
    await Promise.all(results);
  });

  test('the gateway refuses a DNS look-up for a company that already has the maximum number of running and waiting DNS look-ups', async () => {
    const { resolve, asked } = partlySilent();
    const lookups = createLookups(resolve);
    const { abort, results } = fillShare(lookups, 'a', maxLookupsPerCompany + maxWaitingPerCompany);
    await expect.poll(() => asked).toHaveLength(maxLookupsPerCompany);
    await expect(lookups.addressesOf('b.example', 'a', patient())).rejects.toThrow(LookupNotStartedError);
    abort.abort(new Error('stopped'));
    const errors = await Promise.all(results);
    expect(errors.filter((error) => error instanceof LookupNotStartedError)).toHaveLength(
      maxWaitingPerCompany,
    );
    expect(asked).toHaveLength(maxLookupsPerCompany);
    expect(await lookups.addressesOf('b.example', 'a', patient())).toEqual(publicAddresses);
  });

  test('the gateway caches a DNS look-up that failed, but not a DNS look-up that was aborted', async () => {
    const asked: string[] = [];
    const lookups = createLookups(async (hostname, signal) => {
      asked.push(hostname);
      signal.throwIfAborted();
      throw new Error('no such name');
    });
    const ask = (hostname: string) => lookups.addressesOf(hostname, 'a', patient());
    await expect(ask('a.example')).rejects.toThrow('no such name');
    await expect(ask('a.example')).rejects.toThrow('no such name');
    expect(asked).toEqual(['a.example']);

    const { resolve, asked: silentlyAsked } = partlySilent();
    const others = createLookups(resolve);
    for (const count of [1, 2]) {
      const { abort, results } = fillShare(others, 'a', 1);
      await expect.poll(() => silentlyAsked).toHaveLength(count);
      abort.abort();
      await Promise.all(results);
    }
  });

  test(
    'a cached DNS failure expires, and the gateway queries the name server again',
    { timeout: 60_000 },
    async () => {
      let asked = 0;
      const lookups = createLookups(() => Promise.reject(new Error(`failure ${(asked += 1)}`)));
      const ask = () =>
        lookups.addressesOf('a.example', 'a', patient()).catch((error: Error) => error.message);
      expect(await ask()).toBe('failure 1');
      await expect.poll(ask, { timeout: 60_000, interval: 250 }).toBe('failure 2');
    },
  );

  test('when the cache of DNS failures is full, a new failure replaces the oldest failure', async () => {
    let asked = 0;
    const lookups = createLookups(() => {
      asked += 1;
      return Promise.reject(new Error('no such name'));
    });
    const ask = (index: number) => lookups.addressesOf(`${index}.example`, 'a', patient()).catch(() => []);
    for (let index = 0; index <= maxRememberedFailures; index += 1) await ask(index);
    await ask(maxRememberedFailures);
    expect(asked).toBe(maxRememberedFailures + 1);
    await ask(0);
    expect(asked).toBe(maxRememberedFailures + 2);
  });
});

test('the gateway finds all addresses of a host name in the hosts file, and ignores the comments of the file', () => {
  const file = [
    '# 10.0.0.9 a.example',
    '10.0.0.1\ta.example  alias # b.example',
    '::1 localhost A.Example\r',
    'no-address a.example',
    '',
  ].join('\n');
  expect(addressesInHosts(file, 'a.example.')).toEqual([
    { address: '10.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
  expect(addressesInHosts(file, 'ALIAS')).toEqual([{ address: '10.0.0.1', family: 4 }]);
  expect(addressesInHosts(file, 'b.example')).toEqual([]);
});
