import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createLive } from '../../pages/console/graph/live.ts';
import { maxRetryDelayMs, rateLimitDelayMs, retryDelayMs } from '../../pages/console/graph/retry.ts';
import { maxSilenceMs } from '../../pages/console/graph/silence.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { openTestGateway, serve } from '../support/harness.ts';

describe('the pauses before the console sends a failed request again', () => {
  /**
   * Returns the shortest and the longest pause that the function `delay` can return. `delay` derives the length of the
   * pause from a random number.
   */
  function rangeOf(delay: () => number): number[] {
    const random = vi.spyOn(Math, 'random');
    const range = [0, 1].map((number) => {
      random.mockReturnValue(number);
      return delay();
    });
    random.mockRestore();
    return range;
  }

  test.each([
    [0, 500, 1_000],
    [1, 1_000, 2_000],
    [4, 8_000, 16_000],
    [5, maxRetryDelayMs / 2, maxRetryDelayMs],
    [10_000, maxRetryDelayMs / 2, maxRetryDelayMs],
  ])(
    'after %i retries, the console waits between %i and %i ms before the next retry',
    (attempt, shortest, longest) => {
      expect(rangeOf(() => retryDelayMs(attempt))).toEqual([shortest, longest]);
    },
  );

  test.each([
    ['120', 120_500, 121_000],
    [undefined, 10_500, 11_000],
  ])(
    'after a rate limit error with the Retry-After header %s, the console waits between %i and %i ms before the next request',
    (seconds, shortest, longest) => {
      const headers = new Headers(seconds === undefined ? {} : { 'Retry-After': seconds });
      const response = new Response(null, { status: 429, headers });
      expect(rangeOf(() => rateLimitDelayMs(0, response))).toEqual([shortest, longest]);
    },
  );
});

test('when one subscription of the console ends, the connection state of another subscription stays `live`', async () => {
  const openStream = () =>
    Promise.resolve(new Response(new ReadableStream(), { headers: { 'Content-Type': 'text/event-stream' } }));
  vi.stubGlobal('fetch', openStream);
  const { connection, subscribe } = createLive(() => 'key');
  const subscribeTo = (key: number) =>
    subscribe({ key, query: 'subscription { tick }' }, { next: vi.fn(), complete: vi.fn() });
  const [endFirst, endSecond] = [subscribeTo(1), subscribeTo(2)];
  const states = () => [1, 2].map((key) => connection.state(key));
  await expect.poll(states).toEqual(['live', 'live']);
  endFirst();
  expect(states()).toEqual([undefined, 'live']);
  endSecond();
  expect(states()).toEqual([undefined, undefined]);
  vi.unstubAllGlobals();
});

describe('the end of a stream in the console', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  const refusalOf = (code: string) => JSON.stringify({ errors: [{ message: 'No', extensions: { code } }] });
  const openStream = (body: ReadableStream | string) =>
    new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  const streamWith = (code: string) => openStream(`event: next\ndata: ${refusalOf(code)}\n\n`);
  const rejectedWith = (status: number, code: string) => new Response(refusalOf(code), { status });

  /**
   * Opens a subscription of the console; the first request of this subscription gets the given response. Each later
   * request of the subscription gets a stream that stays open. The test immediately reports that the network is
   * available again, so the subscription sends its next request without a pause.
   */
  function subscribeAfter(first: Response) {
    const responses = [first];
    const fetched = vi.fn(() => Promise.resolve(responses.shift() ?? openStream(new ReadableStream())));
    vi.stubGlobal('fetch', fetched);
    vi.stubGlobal('addEventListener', (_: string, listener: () => void) => listener());
    vi.stubGlobal('removeEventListener', vi.fn());
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const sink = { next: vi.fn(), complete: vi.fn() };
    const { connection, subscribe } = createLive(() => 'key');
    const end = subscribe({ key: 1, query: 'subscription { tick }' }, sink);
    const pauses = () => timers.mock.calls.map(([, ms]) => ms);
    return { state: () => connection.state(1), fetched, sink, end, pauses };
  }

  test.each([
    ['a stream that ends with INTERNAL_ERROR', streamWith('INTERNAL_ERROR'), 1_000],
    ['a stream that ends with RATE_LIMIT_EXCEEDED', streamWith('RATE_LIMIT_EXCEEDED'), 11_000],
    ['a response with status 500', rejectedWith(500, 'INTERNAL_ERROR'), 1_000],
    ['a response with status 429', rejectedWith(429, 'RATE_LIMIT_EXCEEDED'), 11_000],
    [
      'a response with status 404 from another server',
      new Response('<h1>Not found</h1>', { status: 404 }),
      1_000,
    ],
  ])('after %s, the console opens a new stream after a pause', async (_, response, pauseMs) => {
    const { state, fetched, sink, end, pauses } = subscribeAfter(response);
    await expect.poll(() => fetched.mock.calls.length).toBe(2);
    await expect.poll(state).toBe('live');
    expect(pauses()).toContain(pauseMs);
    expect(sink.next).not.toHaveBeenCalled();
    end();
  });

  test.each([
    ['a stream that ends with UNAUTHORIZED', streamWith('UNAUTHORIZED'), 'UNAUTHORIZED'],
    ['a response with status 401', rejectedWith(401, 'UNAUTHORIZED'), 'UNAUTHORIZED'],
    ['a stream that ends with FORBIDDEN', streamWith('FORBIDDEN'), 'FORBIDDEN'],
    ['a stream that ends with NOT_FOUND', streamWith('NOT_FOUND'), 'NOT_FOUND'],
    ['a response with status 400', rejectedWith(400, 'VALIDATION_ERROR'), 'VALIDATION_ERROR'],
  ])(
    'after %s, the console ends the subscription and passes the error to the view',
    async (_, response, code) => {
      const { state, fetched, sink } = subscribeAfter(response);
      await expect.poll(() => sink.complete.mock.calls.length).toBe(1);
      expect(sink.next.mock.calls).toEqual([[JSON.parse(refusalOf(code))]]);
      expect(fetched).toHaveBeenCalledTimes(1);
      expect(state()).toEqual(expect.any(Number));
    },
  );
});

describe.runIf(hasBrowser)('the connection of the console in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test.each(['sites', 'a location', 'a webhook'])(
    'the console view of %s shows the time at which its live updates stopped',
    async (view) => {
      const gateway = await openTestGateway();
      const url = await serve(gateway);
      const { key, companyId, locationId } = await gateway.newTenant();
      await gateway.database.prisma.location.update({
        where: { id: locationId },
        data: { timezone: 'Asia/Dubai' },
      });
      const { body } = await gateway.graph(
        `mutation ($id: ID!) { createWebhook(input: { delivery: PULL, events: [WHITELIST_CREATED], companyId: $id }) { webhook { id } } }`,
        { key, variables: { id: companyId } },
      );
      expect(body.errors).toBeUndefined();
      const place =
        view === 'sites'
          ? 'sites'
          : view === 'a location'
            ? `sites/${locationId}`
            : `webhooks/${body.data.createWebhook.webhook.id}`;
      const { page } = await openConsole(browser, url, { key, place, timezoneId: 'Europe/Berlin' });
      const live = page.getByText('Live', { exact: true });
      const lost = page.getByText('Not live since');
      await live.waitFor();
      if (view === 'a location') await page.getByText('Asia/Dubai').waitFor();
      await page.route('**/graphql', (route) => route.abort());
      gateway.endStreams();
      await lost.waitFor();
      expect(await live.count()).toBe(0);
      const zone = view === 'a location' ? 'Asia/Dubai' : 'Europe/Berlin';
      const lostAt = new Date((await lost.locator('time').getAttribute('datetime'))!);
      expect(Math.abs(lostAt.getTime() - Date.now())).toBeLessThan(60_000);
      const time = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' });
      expect(await lost.innerText()).toBe(`Not live since ${time.format(lostAt)}`);
    },
  );

  test('the console shows live data again when its lost connection is restored', async () => {
    const gateway = await openTestGateway();
    const url = await serve(gateway);
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key, place: 'key' });
    await page.route('**/graphql', (route) =>
      /subscription SitesLive/.test(route.request().postData() ?? '') ? route.abort() : route.continue(),
    );
    await page.evaluate(() => (location.hash = '#/sites'));
    await page.getByText('Not live since').waitFor();
    await page.unroute('**/graphql');
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.getByText('Not live since').count()).toBe(0);
  });

  test('a console view that cannot reach the gateway repeats its request automatically', async () => {
    const gateway = await openTestGateway();
    const url = await serve(gateway);
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key });
    let refused = 0;
    await page.route('**/graphql', (route) => {
      if (!/query Keys/.test(route.request().postData() ?? '') || refused === 3) return route.continue();
      refused += 1;
      return route.abort();
    });
    await page.evaluate(() => (location.hash = '#/keys'));
    await page.getByText('The gateway is unreachable').waitFor();
    await page.getByRole('region', { name: 'Keys' }).waitFor();
    expect(refused).toBe(3);
  });

  test('when the gateway closes every stream immediately, the console waits longer before each new stream, up to 30 s', async () => {
    const gateway = await openTestGateway();
    const url = await serve(gateway);
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key, place: 'key' });
    // In the page, the test replaces the function `setTimeout` with a different function. This function records the
    // length of each pause, and does not wait.
    await page.evaluate(() => {
      const wait = setTimeout;
      const pauses: number[] = [];
      Math.random = () => 1;
      Object.assign(globalThis, {
        pauses,
        setTimeout(callback: () => void, ms: number) {
          if (ms >= 1000) pauses.push(ms);
          return wait(callback, 0);
        },
      });
    });
    await page.route('**/graphql', (route) => {
      if (!/subscription SitesLive/.test(route.request().postData() ?? '')) return route.continue();
      const data = JSON.stringify({ data: { locationStatusesChanged: null } });
      return route.fulfill({
        headers: { 'Content-Type': 'text/event-stream' },
        body: `event: next\ndata: ${data}\n\nevent: complete\ndata:\n\n`,
      });
    });
    await page.evaluate(() => (location.hash = '#/sites'));
    const seconds = () =>
      page.evaluate(() => (globalThis as never as { pauses: number[] }).pauses.map((ms) => ms / 1000));
    await expect.poll(async () => (await seconds()).slice(0, 7)).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  test('the console opens a new stream when the gateway sends nothing for too long', async () => {
    const gateway = await openTestGateway();
    const url = await serve(gateway);
    const { key } = await gateway.newTenant();
    const { page, operations } = await openConsole(browser, url, { key, place: 'key' });
    await page.clock.install();
    await page.evaluate(() => (location.hash = '#/sites'));
    await page.getByText('Live', { exact: true }).waitFor();
    const streams = () => operations.filter((name) => name === 'SitesLive').length;
    const before = streams();
    await expect
      .poll(async () => {
        await page.clock.runFor(2 * maxSilenceMs);
        return streams();
      })
      .toBeGreaterThan(before);
  });
});
