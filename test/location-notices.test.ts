import { expect, test, vi } from 'vitest';
import { createLocationNotices } from '../src/locations/notices.ts';
import { anyChange, createLocalPubSub } from '../src/redis/pub-sub.ts';

/** Notices of whitelists, and what they do to the channel below them. */
function newNotices() {
  const pubSub = createLocalPubSub();
  const publish = vi.spyOn(pubSub, 'publish');
  const subscribe = vi.spyOn(pubSub, 'subscribe');
  return { pubSub, publish, subscribe, notices: createLocationNotices(pubSub, 'whitelist') };
}

/** Whether a notice has come, or comes within some milliseconds. */
const comes = (watched: AsyncIterator<void>, withinMs = 100) =>
  Promise.race([
    watched.next().then(() => true),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), withinMs)),
  ]);

test('changes that follow each other fast, of many locations too, are one message', async () => {
  const { notices, publish } = newNotices();
  for (const id of ['a', 'b', 'a', 'a', 'c']) notices.publish(id);
  await expect.poll(() => publish.mock.calls).toEqual([['whitelist', 'a,b,c']]);
  notices.publish('a');
  await expect.poll(() => publish.mock.calls.at(-1)).toEqual(['whitelist', 'a']);
});

test('who watches a location hears of its changes alone', async () => {
  const { notices } = newNotices();
  const [one, other] = [await notices.watch('one'), await notices.watch('other')];
  notices.publish('one');
  expect(await comes(one)).toBe(true);
  expect(await comes(other)).toBe(false);
});

test('everyone who watches is woken when anything may have changed', async () => {
  const { notices, pubSub } = newNotices();
  const watched = [await notices.watch('one'), await notices.watch('other')];
  await pubSub.publish('whitelist', anyChange);
  expect(await Promise.all(watched.map((each) => comes(each)))).toEqual([true, true]);
});

test('a process takes notices as long as somebody watches', async () => {
  const { notices, subscribe, publish } = newNotices();
  const [one, other] = [await notices.watch('one'), await notices.watch('other')];
  expect(subscribe).toHaveBeenCalledTimes(1);
  await one.return!();
  notices.publish('other');
  expect(await comes(other)).toBe(true);
  await other.return!();
  const again = await notices.watch('one');
  expect(subscribe).toHaveBeenCalledTimes(2);
  await publish('whitelist', 'one');
  expect(await comes(again)).toBe(true);
});
