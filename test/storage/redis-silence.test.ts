import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { anyChange, type Channel, createRedisPubSub } from '../../src/redis/pub-sub.ts';
import { openTestGateway } from '../support/harness.ts';
import { startProxy } from '../support/proxy.ts';

const redisUrl = process.env.REDIS_URL;
const log = pino({ level: 'silent' });

/** Returns the name of a channel that no other test on this Redis server uses. */
const newChannel = (name: string) => `${name}-${process.pid}-${Date.now()}` as Channel;

/**
 * Opens two connections to one Redis server, as two gateway processes do. The first Redis connection passes through a
 * proxy that the test can interrupt. Both Redis connections are closed at the end of the test.
 */
async function connectPair() {
  const proxy = await startProxy(redisUrl!);
  onTestFinished(proxy.close);
  const [proxied, direct] = [
    createRedisPubSub({ urls: [proxy.url] }, log),
    createRedisPubSub({ urls: [redisUrl!] }, log),
  ];
  onTestFinished(async () => void (await Promise.all([proxied.close(), direct.close()])));
  await expect.poll(() => proxied.connected && direct.connected).toBe(true);
  return { proxy, proxied, direct };
}

test.runIf(redisUrl)(
  'a gateway process detects that Redis no longer answers, and receives messages from Redis again after the connection recovers',
  async () => {
    const { proxy, proxied: silent, direct: sender } = await connectPair();
    const channel = newChannel('silence');
    const messages: string[] = [];
    await silent.subscribe(channel, (message) => messages.push(message));
    const changes: boolean[] = [];
    silent.onConnectionChange((connected) => changes.push(connected));
    await sender.publish(channel, 'before');
    await expect.poll(() => messages).toEqual(['before']);

    proxy.silence();
    await expect.poll(() => silent.connected, { timeout: 10_000, interval: 10 }).toBe(false);
    proxy.restore();
    await expect.poll(() => silent.connected, { timeout: 10_000 }).toBe(true);
    expect(changes.slice(0, 2)).toEqual([false, true]);
    await sender.publish(channel, 'after');
    await expect.poll(() => messages).toContain('after');
  },
);

test.runIf(redisUrl)(
  'when Redis is reachable again, the gateway sends the notice of a change that happened while Redis was unreachable',
  async () => {
    const { proxy, proxied: sender, direct: receiver } = await connectPair();
    const channel = newChannel('unsent');
    const messages: string[] = [];
    await receiver.subscribe(channel, (message) => messages.push(message));

    proxy.cut();
    await expect.poll(() => sender.connected).toBe(false);
    await sender.publish(channel, 'during');
    expect(messages).toEqual([]);
    proxy.restore();
    await expect.poll(() => messages).toEqual(['during']);
  },
);

test.runIf(redisUrl)(
  'while Redis is unreachable, the gateway replaces several waiting notices of one channel with one notice (`anyChange`)',
  async () => {
    const { proxy, proxied: sender, direct: receiver } = await connectPair();
    const [once, often] = [newChannel('once'), newChannel('often')];
    const messages: string[] = [];
    for (const channel of [once, often]) {
      await receiver.subscribe(channel, (message) => messages.push(`${channel} ${message}`));
    }

    proxy.cut();
    await expect.poll(() => sender.connected).toBe(false);
    await sender.publish(once, 'one');
    for (const message of ['one', 'two', 'three']) await sender.publish(often, message);
    proxy.restore();
    await expect.poll(() => messages).toEqual([`${once} one`, `${often} ${anyChange}`]);
  },
);

test.runIf(redisUrl)(
  'while Redis does not answer, the readiness probe reports that change notices between gateway processes are delayed',
  async () => {
    const proxy = await startProxy(redisUrl!);
    onTestFinished(proxy.close);
    const gateway = await openTestGateway({ REDIS_URL: proxy.url });
    const notices = async () =>
      ((await (await gateway.app.request('/readyz')).json()) as { notices: string }).notices;
    await expect.poll(notices).toBe('ok');
    proxy.silence();
    await expect.poll(notices, { timeout: 10_000 }).toBe('late');
    proxy.restore();
    await expect.poll(notices).toBe('ok');
  },
);
