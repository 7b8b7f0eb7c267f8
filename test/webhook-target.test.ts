import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createWebhookTarget, isPublicAddress, type Resolve } from '../src/webhooks/sender.ts';
import { startReceiver } from './support/receiver.ts';

const receiver = await startReceiver();
const { port } = new URL(receiver.url);
const message = { headers: { 'webhook-id': 'message' }, body: '{}' };
const post = (url: string, resolve?: Resolve) =>
  createWebhookTarget({ allowPrivate: false, ...(resolve && { resolve }) }).post(
    url,
    message,
    AbortSignal.timeout(5000),
  );

/** A resolver that gives one answer after the other. */
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

describe('the address of a webhook', () => {
  test('is not public when it is loopback, private, link-local, shared, multicast or reserved', () => {
    fc.assert(fc.property(privateIpv4, (address) => !isPublicAddress(address)));
  });

  test('is not public when an IPv6 address holds such an address', () => {
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
  ])('is not public as %s', (address) => expect(isPublicAddress(address)).toBe(false));

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    'is public as %s',
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
    ['https://localhost/', 'public'],
    ['http://8.8.8.8/', 'https'],
    ['ftp://8.8.8.8/', 'https'],
    ['https://user:password@8.8.8.8/', 'password'],
    ['https://user@8.8.8.8/', 'user name'],
    ['/hook', 'URL'],
    ['', 'URL'],
  ])('%s is refused, which says why', async (url, word) => {
    expect(await createWebhookTarget({ allowPrivate: false }).fault(url)).toContain(word);
  });

  test.each([
    ['one private address', ['10.0.0.1']],
    ['a private address beside a public one', ['8.8.8.8', '10.0.0.1']],
    ['a mapped loopback address', ['::ffff:127.0.0.1']],
  ])('is refused when its name has %s', async (_, addresses) => {
    const resolve = resolver(addresses);
    expect(await createWebhookTarget({ allowPrivate: false, resolve }).fault('https://a.example/')).toContain(
      'public',
    );
    await expect(post(`https://a.example:${port}/`, resolve)).rejects.toThrow('public');
    expect(receiver.messages).toEqual([]);
  });

  test('is taken when its name is public, or not known yet', async () => {
    const fault = (resolve: Resolve) =>
      createWebhookTarget({ allowPrivate: false, resolve }).fault('https://a.example/');
    expect(await fault(resolver(['8.8.8.8', '2606:4700::1']))).toBeUndefined();
    expect(await fault(() => Promise.reject(new Error('no such name')))).toBeUndefined();
    expect(await fault(() => new Promise(() => undefined))).toBeUndefined();
  });

  test('is checked again for the connection itself, when the name has changed', async () => {
    const target = createWebhookTarget({
      allowPrivate: false,
      resolve: resolver(['8.8.8.8'], ['127.0.0.1']),
    });
    const url = `https://rebound.example:${port}/`;
    expect(await target.fault(url)).toBeUndefined();
    await expect(target.post(url, message, AbortSignal.timeout(5000))).rejects.toThrow('public');
    expect(receiver.messages).toEqual([]);
  });

  test.each([`http://127.0.0.1:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`, `http://localhost:${port}/`])(
    'is not connected to as %s',
    async (url) => {
      await expect(post(url)).rejects.toThrow('public');
      expect(receiver.messages).toEqual([]);
    },
  );
});
