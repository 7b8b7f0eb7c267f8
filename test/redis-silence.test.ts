import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createRedisPubSub, maxUnsentNotices } from '../src/redis/pub-sub.ts';
import { openTestGateway } from './support/harness.ts';
import { startProxy } from './support/proxy.ts';

const redisUrl = process.env.REDIS_URL;
const log = pino({ level: 'silent' });

test.runIf(redisUrl)(
  'a connection to Redis that went silent is noticed, and notices arrive again once it is back',
  async () => {
    const proxy = await startProxy(redisUrl!);
    onTestFinished(proxy.close);
    const [silent, sender] = [
      createRedisPubSub({ urls: [proxy.url] }, log),
      createRedisPubSub({ urls: [redisUrl!] }, log),
    ];
    onTestFinished(async () => void (await Promise.all([silent.close(), sender.close()])));
    await expect.poll(() => silent.connected && sender.connected).toBe(true);
    const channel = `silence-${process.pid}-${Date.now()}`;
    const messages: string[] = [];
    await silent.subscribe(channel, (message) => messages.push(message));
    const changes: boolean[] = [];
    silent.onConnectionChange((connected) => changes.push(connected));
    await sender.publish(channel, 'before');
    await expect.poll(() => messages).toEqual(['before']);

    proxy.silence();
    await expect.poll(() => silent.connected, { timeout: 10_000, interval: 10 }).toBe(false);
    proxy.mend();
    await expect.poll(() => silent.connected, { timeout: 10_000 }).toBe(true);
    expect(changes.slice(0, 2)).toEqual([false, true]);
    await sender.publish(channel, 'after');
    await expect.poll(() => messages).toContain('after');
  },
);

test.runIf(redisUrl)('a notice that could not be sent is sent when Redis is back', async () => {
  const proxy = await startProxy(redisUrl!);
  onTestFinished(proxy.close);
  const [sender, receiver] = [
    createRedisPubSub({ urls: [proxy.url] }, log),
    createRedisPubSub({ urls: [redisUrl!] }, log),
  ];
  onTestFinished(async () => void (await Promise.all([sender.close(), receiver.close()])));
  await expect.poll(() => sender.connected && receiver.connected).toBe(true);
  const channel = `unsent-${process.pid}-${Date.now()}`;
  const messages: string[] = [];
  await receiver.subscribe(channel, (message) => messages.push(message));

  proxy.cut();
  await expect.poll(() => sender.connected).toBe(false);
  await sender.publish(channel, 'during');
  expect(messages).toEqual([]);
  proxy.mend();
  await expect.poll(() => messages).toEqual(['during']);
});

test.runIf(redisUrl)(
  'of notices that wait for Redis the newest of each channel is kept, of so many channels',
  async () => {
    const proxy = await startProxy(redisUrl!);
    onTestFinished(proxy.close);
    const words: { msg: string; channel?: string }[] = [];
    const written = pino({ level: 'warn' }, { write: (line) => void words.push(JSON.parse(line)) });
    const [sender, receiver] = [
      createRedisPubSub({ urls: [proxy.url] }, written),
      createRedisPubSub({ urls: [redisUrl!] }, log),
    ];
    onTestFinished(async () => void (await Promise.all([sender.close(), receiver.close()])));
    await expect.poll(() => sender.connected && receiver.connected).toBe(true);
    const run = `bound-${process.pid}-${Date.now()}`;
    const messages: string[] = [];
    const watched = [0, maxUnsentNotices - 1, maxUnsentNotices].map((index) => `${run}-${index}`);
    for (const channel of watched) {
      await receiver.subscribe(channel, (message) => messages.push(`${channel} ${message}`));
    }

    proxy.cut();
    await expect.poll(() => sender.connected).toBe(false);
    const publishAll = (message: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => sender.publish(`${run}-${index}`, message)));
    await publishAll('old', maxUnsentNotices);
    await publishAll('new', maxUnsentNotices + 1);
    const lost = words.filter(({ msg }) => msg.includes('was lost'));
    expect(lost.map(({ channel }) => channel)).toEqual([`${run}-${maxUnsentNotices}`]);
    proxy.mend();
    await expect.poll(() => messages).toEqual(watched.slice(0, 2).map((channel) => `${channel} new`));
  },
);

test.runIf(redisUrl)('readiness says that notices are late while Redis is silent', async () => {
  const proxy = await startProxy(redisUrl!);
  onTestFinished(proxy.close);
  const gateway = await openTestGateway({ REDIS_URL: proxy.url });
  const notices = async () =>
    ((await (await gateway.app.request('/readyz')).json()) as { notices: string }).notices;
  await expect.poll(notices).toBe('ok');
  proxy.silence();
  await expect.poll(notices, { timeout: 10_000 }).toBe('late');
  proxy.mend();
  await expect.poll(notices).toBe('ok');
});
