import { expect, test, vi } from 'vitest';
import { createLocationNotices } from '../../src/location-access/notices.ts';
import { anyChange, createLocalPubSub } from '../../src/redis/pub-sub.ts';

/**
 * Creates an object that publishes and receives notices of whitelist changes. The spies `publish` and `subscribe`
 * record all calls.
 */
function newNotices() {
  const pubSub = createLocalPubSub();
  const publish = vi.spyOn(pubSub, 'publish');
  const subscribe = vi.spyOn(pubSub, 'subscribe');
  return { pubSub, publish, subscribe, notices: createLocationNotices(pubSub, 'whitelist') };
}

/** Returns whether a notice of a changed location arrives within the given number of milliseconds. */
const comes = (watched: AsyncIterator<string>, withinMs = 100) =>
  Promise.race([
    watched.next().then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), withinMs)),
  ]);

test('when locations change several times within a short time, the gateway publishes one message with all changed locations', async () => {
  const { notices, publish } = newNotices();
  for (const id of ['a', 'b', 'a', 'a', 'c']) notices.publish(id);
  await expect.poll(() => publish.mock.calls).toEqual([['whitelist', 'a,b,c']]);
  notices.publish('a');
  await expect.poll(() => publish.mock.calls.at(-1)).toEqual(['whitelist', 'a']);
});

test('the method `flush` sends the collected notices immediately and only once', async () => {
  const { notices, publish } = newNotices();
  await notices.flush();
  expect(publish).not.toHaveBeenCalled();
  notices.publish('a');
  await notices.flush();
  expect(publish.mock.calls).toEqual([['whitelist', 'a']]);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(publish).toHaveBeenCalledTimes(1);
});

test('a subscriber receives notices only about the location of its subscription', async () => {
  const { notices } = newNotices();
  const [one, other] = [await notices.watch(['one']), await notices.watch(['other'])];
  notices.publish('one');
  expect(await comes(one)).toBe(true);
  expect(await comes(other)).toBe(false);
});

test('when a notice says that any location may have changed, the subscribers of all locations get a notice', async () => {
  const { notices, pubSub } = newNotices();
  const watched = [await notices.watch(['one']), await notices.watch(['other'])];
  await pubSub.publish('whitelist', anyChange);
  expect(await Promise.all(watched.map((each) => comes(each)))).toEqual([true, true]);
});

test('a process stays subscribed to notices of changed locations as long as one of its clients watches a location', async () => {
  const { notices, subscribe, publish } = newNotices();
  const [one, other] = [await notices.watch(['one']), await notices.watch(['other'])];
  expect(subscribe).toHaveBeenCalledTimes(1);
  await one.return!();
  notices.publish('other');
  expect(await comes(other)).toBe(true);
  await other.return!();
  const again = await notices.watch(['one']);
  expect(subscribe).toHaveBeenCalledTimes(2);
  await publish('whitelist', 'one');
  expect(await comes(again)).toBe(true);
});

test('a subscriber to several locations gets the id of each changed location once', async () => {
  const { notices, pubSub } = newNotices();
  const watched = await notices.watch(['one', 'other', 'one'], { presentFirst: true });
  const next = async () => (await watched.next()).value;
  expect([await next(), await next()]).toEqual(['one', 'other']);
  await pubSub.publish('whitelist', 'other,third,other');
  expect(await next()).toBe('other');
  expect(await comes(watched)).toBe(false);
  await watched.return!();
});
