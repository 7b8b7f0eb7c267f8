import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLookups } from '../../src/webhooks/look-ups.ts';
import { createNameResolver, type Resolve } from '../../src/webhooks/name-resolver.ts';
import { createWebhookTarget, isPublicAddress } from '../../src/webhooks/sender.ts';
import { startReceiver } from '../support/receiver.ts';

const receiver = await startReceiver();
const { port } = new URL(receiver.url);
const message = { headers: { 'webhook-id': 'message' }, body: '{}' };
/**
 * The time limit of an attempt to deliver a message, in milliseconds. All delivery attempts in these tests end before
 * this time limit.
 */
const timeLimitMs = 120_000;
const unknownName: Resolve = () => Promise.reject(new Error('no such name'));
const targetWith = (resolve: Resolve) =>
  createWebhookTarget({ allowPrivate: false, lookups: createLookups(resolve) });
const post = (url: string, resolve: Resolve) =>
  targetWith(resolve).post(url, 'company', message, AbortSignal.timeout(timeLimitMs));

/**
 * A fake DNS resolver whose name server never responds. Each DNS look-up therefore runs until the caller aborts the
 * look-up.
 */
const silent: Resolve = (_hostname, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

/** Creates a fake DNS resolver that returns the given responses one after the other. */
function resolver(...answers: string[][]): Resolve {
  let calls = 0;
  return async () =>
    answers[Math.min(calls++, answers.length - 1)]!.map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));
}

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = (...parts: fc.Arbitrary<number>[]) => fc.tuple(...parts).map((bytes) => bytes.join('.'));
const is = (value: number) => fc.constant(value);
const privateIpv4 = fc.oneof(
  ipv4(is(127), octet, octet, octet),
  ipv4(is(10), octet, octet, octet),
  ipv4(is(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  ipv4(is(192), is(168), octet, octet),
  ipv4(is(169), is(254), octet, octet),
  ipv4(is(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  ipv4(is(0), octet, octet, octet),
  ipv4(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
);
const hex = ([a, b]: string[]) =>
  Number(a).toString(16).padStart(2, '0') + Number(b).toString(16).padStart(2, '0');
const words = (address: string) => {
  const bytes = address.split('.');
  return `${hex(bytes.slice(0, 2))}:${hex(bytes.slice(2))}`;
};

describe('IP addresses and URLs of webhook receivers', () => {
  test('a webhook receiver cannot have a loopback, private, link-local, shared, multicast or reserved IPv4 address', () => {
    fc.assert(fc.property(privateIpv4, (address) => !isPublicAddress(address)));
  });

  test('a webhook receiver cannot have an IPv6 address that contains a non-public IPv4 address', () => {
    fc.assert(
      fc.property(
        privateIpv4,
        fc.constantFrom('::ffff:', '::', '64:ff9b::', '64:ff9b:1::', '2002:', '::ffff:0:'),
        (address, prefix) => {
          const embedded = prefix === '2002:' ? `2002:${words(address)}::1` : prefix + words(address);
          expect(isPublicAddress(embedded), embedded).toBe(false);
        },
      ),
    );
  });

  test.each([
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    'fec0::1',
    '2001:db8::1',
    '2001::1',
    '100::1',
  ])('the gateway treats %s as a non-public IP address', (address) =>
    expect(isPublicAddress(address)).toBe(false),
  );

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    'the gateway treats %s as a public IP address',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  test.each([
    ['https://127.0.0.1/', 'public'],
    ['https://2130706433/', 'public'],
    ['https://0x7f.1/', 'public'],
    ['https://0177.0.0.1/', 'public'],
    ['https://[::1]/', 'public'],
    ['https://[::ffff:10.0.0.1]/', 'public'],
    ['https://169.254.169.254/latest/meta-data', 'public'],
    ['http://8.8.8.8/', 'https'],
    ['ftp://8.8.8.8/', 'https'],
    ['https://user:password@8.8.8.8/', 'password'],
    ['https://user@8.8.8.8/', 'user name'],
    ['/hook', 'URL'],
    ['', 'URL'],
  ])('the webhook URL "%s" is refused, and the error contains the reason', async (url, word) => {
    expect(await targetWith(unknownName).fault(url, 'company')).toContain(word);
  });

  test.each([
    ['one private address', ['10.0.0.1']],
    ['a private address beside a public one', ['8.8.8.8', '10.0.0.1']],
    ['a mapped loopback address', ['::ffff:127.0.0.1']],
  ])('a host name in a webhook URL is refused when its DNS response contains %s', async (_, addresses) => {
    const resolve = resolver(addresses);
    expect(await targetWith(resolve).fault('https://a.example/', 'company')).toContain('public');
    await expect(post(`https://a.example:${port}/`, resolve)).rejects.toThrow('public');
    expect(receiver.messages).toEqual([]);
  });

  test('a host name in a webhook URL is accepted when its addresses are public, or when DNS returns no address', async () => {
    const fault = (resolve: Resolve) => targetWith(resolve).fault('https://a.example/', 'company');
    expect(await fault(resolver(['8.8.8.8', '2606:4700::1']))).toBeUndefined();
    expect(await fault(unknownName)).toBeUndefined();
    expect(await fault(silent)).toBeUndefined();
  });

  test('when the gateway cannot connect to any address of a host, the error contains the reason for each address', async () => {
    const target = createWebhookTarget({
      allowPrivate: true,
      lookups: createLookups(resolver(['127.0.0.1', '127.0.0.2'])),
    });
    await expect(
      target.post('http://several.example:1/', 'company', message, AbortSignal.timeout(timeLimitMs)),
    ).rejects.toThrow(/ECONNREFUSED 127\.0\.0\.1:1; .*ECONNREFUSED 127\.0\.0\.2:1/);
  });

  test('an attempt to deliver a webhook message connects to at most 10 IPv4 addresses and 10 IPv6 addresses of a host', async () => {
    const addresses = Array.from({ length: 200 }, (_, number) => `127.0.1.${number}`);
    const target = createWebhookTarget({
      allowPrivate: true,
      lookups: createLookups(resolver([...addresses, ...addresses.map((address) => `::ffff:${address}`)])),
    });
    const error: unknown = await target
      .post('http://several.example:1/', 'company', message, AbortSignal.timeout(timeLimitMs))
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Error);
    const refused = (error as Error).message.split('; ');
    expect(refused.filter((reason) => reason.includes('::ffff'))).toHaveLength(10);
    expect(refused).toHaveLength(20);
  });

  test('a webhook delivery attempt fails when the receiver sends endless interim responses (status 103)', async () => {
    const server = createServer((socket) => {
      const sendMore = () => {
        while (socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'));
        socket.once('drain', sendMore);
      };
      socket.on('error', () => {}).once('data', sendMore);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const target = createWebhookTarget({ allowPrivate: true, lookups: createLookups(unknownName) });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(target.post(url, 'company', message, AbortSignal.timeout(timeLimitMs))).rejects.toThrow(
      'The receiver sent more than 10 interim responses',
    );
  });

  test("the gateway checks the receiver's IP address again at each connection, because the DNS entry of the host name can change", async () => {
    const target = targetWith(resolver(['8.8.8.8'], ['127.0.0.1']));
    const url = `https://rebound.example:${port}/`;
    expect(await target.fault(url, 'company')).toBeUndefined();
    await expect(target.post(url, 'company', message, AbortSignal.timeout(timeLimitMs))).rejects.toThrow(
      'public',
    );
    expect(receiver.messages).toEqual([]);
  });

  test.each([`http://127.0.0.1:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`, `http://localhost:${port}/`])(
    'the gateway does not send a webhook message to the local address %s',
    async (url) => {
      await expect(post(url, createNameResolver())).rejects.toThrow('public');
      expect(receiver.messages).toEqual([]);
    },
  );
});
