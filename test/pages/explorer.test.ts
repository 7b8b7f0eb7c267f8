import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillVariables } from '../../pages/browser/example-variables.ts';
import { createExamples, exampleEvent, examplePlate } from '../../pages/browser/examples.ts';
import { maxRetries, retryPauseMs } from '../../pages/browser/key-field.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { expectAccessible } from '../support/console.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';
import { newUser } from '../support/user.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

test('every example query of the explorer runs with the values that the explorer fills in', async () => {
  const { key, locationId } = await gateway.newTenant();
  const entry = newEntry();
  const { plateType, plateCode, plateNumber } = entry;
  const plate = { plateType, plateCode, plateNumber };
  await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry });
  for (const { query, variables } of createExamples(new Date())) {
    if (query.includes('\nsubscription ')) continue;
    const { text: filled } = fillVariables(JSON.stringify(variables ?? {}), { locationId, plate });
    expect(filled).not.toContain('"plateNumber":"7"');
    const { body } = await gateway.graph(query, { key, variables: JSON.parse(filled) });
    expect(body.errors, query).toBeUndefined();
  }
  const { body } = await gateway.rest('GET', `/locations/${locationId}/status`, { key });
  expect(body.data).toMatchObject({ occupied: 3 });
});

test('when the user has changed the identifier or the time of the example event, the explorer leaves both values unchanged', () => {
  const { eventId, occurredAt } = exampleEvent(new Date('2026-01-31T08:00:00Z'));
  const fill = (input: object) =>
    JSON.parse(fillVariables(JSON.stringify({ locationId: '', input }), { locationId: 'filled' }).text).input;
  expect(fill({ eventId, occurredAt }).eventId).not.toBe(eventId);
  for (const changed of [
    { eventId, occurredAt: '2026-01-31T09:00:00Z' },
    { eventId: 'gate-1', occurredAt },
    { eventId },
    { occurredAt },
  ]) {
    expect(fill(changed)).toEqual(changed);
  }
});

test('the explorer keeps a plate that the user has typed, even if this plate is the example plate', () => {
  const example = createExamples(new Date())[1]!.variables!;
  const plateOf = (plateNumber: string) => ({ plateType: 'DXB', plateCode: 'B', plateNumber });
  const first = { locationId: 'first', plate: plateOf('1') };
  const second = { locationId: 'second', plate: plateOf('2') };
  const typed = JSON.stringify({ ...example, locationId: 'first' });

  // In this case, the explorer has filled in no variable, for example because a link already contains the location and
  // the plate.
  const kept = fillVariables(typed, first);
  expect(kept.text).toBe(typed);
  expect(fillVariables(kept.text, second, kept.filled).text).toBe(typed);

  // In this case, the explorer has filled the variables first, and the user has then typed another plate in place of
  // the filled-in plate.
  const { filled } = fillVariables(JSON.stringify(example), first);
  const { text } = fillVariables(typed, second, filled);
  expect(JSON.parse(text)).toEqual({ ...example, locationId: 'second' });
});

/** These tests use the explorer in a real browser. */
describe.runIf(hasBrowser)('the GraphQL explorer in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  /** Opens the explorer as a new user does, and records the requests and errors of the page. */
  async function open(
    path = '/graphql',
    { width = 1280, height = 800, colorScheme = 'light' as 'light' | 'dark' } = {},
  ) {
    const context = await newUser(browser, { viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    const complaints: string[] = [];
    const foreignRequests: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== url && protocol !== 'data:') foreignRequests.push(request.url());
    });
    await page.goto(url + path);
    await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
    return { context, page, complaints, foreignRequests };
  }

  const typeKey = async (page: Page, key: string) => {
    await page.getByLabel('API key').fill(key);
    await page.locator('#key-status[data-kind=valid]').waitFor();
  };
  const openTab = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const run = (page: Page) => page.getByRole('button', { name: /Execute query/ }).click();
  const textOf = (page: Page, editor: 'query' | 'variables' | 'result') => {
    const place = {
      query: '.graphiql-query-editor',
      variables: '.graphiql-editor-tool',
      result: '.result-window',
    }[editor];
    return page.evaluate(
      (selector) =>
        (
          document.querySelector(`${selector} .CodeMirror`) as never as { CodeMirror: { getValue(): string } }
        )?.CodeMirror.getValue() ?? '',
      place,
    );
  };
  const storageOf = (page: Page) =>
    page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));

  /** Creates a location with one vehicle on its whitelist, and an API key that has the location in its scope. */
  async function newTenant() {
    const tenant = await gateway.newTenant();
    const entry = newEntry();
    await gateway.rest('POST', `/locations/${tenant.locationId}/whitelist`, { key: tenant.key, body: entry });
    return { ...tenant, entry };
  }

  test('the GraphQL explorer shows documentation and completes field names before the user enters an API key', async () => {
    const { page, complaints } = await open();
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await page.getByText('Decides whether a vehicle may enter a location.').first().waitFor();
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('{ plateAc');
    await page.locator('.CodeMirror-hint', { hasText: 'plateAccess' }).first().waitFor();
    expect(complaints).toEqual([]);
  });

  test('the GraphQL explorer uses the entered API key for the operations in all of its tabs, and does not store the key', async () => {
    const { key, locationId, entry } = await newTenant();
    const { page, complaints, foreignRequests } = await open();
    await typeKey(page, key);
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain(locationId);

    await openTab(page, 'MayEnter');
    await expect.poll(() => textOf(page, 'variables')).toContain(locationId);
    expect(await textOf(page, 'variables')).toContain(entry.plateNumber);
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('"allowed": true');

    await openTab(page, 'AddVehicle');
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('"createdAt"');

    await openTab(page, 'RecordEntry');
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('"listed": true');

    expect(await storageOf(page)).not.toContain(key);
    expect(page.url()).not.toContain(key);
    expect(complaints).toEqual([]);
    expect(foreignRequests).toEqual([]);
  });

  test('when the user enters another API key, the GraphQL explorer replaces the ids in the variables, and the text cursor stays at its position', async () => {
    const [first, second] = [await newTenant(), await newTenant()];
    const { page } = await open();
    await openTab(page, 'MayEnter');
    await typeKey(page, first.key);
    await expect.poll(() => textOf(page, 'variables')).toContain(first.locationId);
    const variables = page.locator('.graphiql-editor-tool .CodeMirror');
    await variables.click();
    await page.keyboard.press('Control+Home');
    for (const arrow of ['ArrowDown', 'ArrowRight']) await page.keyboard.press(arrow);
    const cursor = () =>
      variables.evaluate((element) =>
        (element as never as { CodeMirror: { getCursor(): object } }).CodeMirror.getCursor(),
      );
    expect(await cursor()).toMatchObject({ line: 1, ch: 1 });
    await typeKey(page, second.key);
    await expect.poll(() => textOf(page, 'variables')).toContain(second.locationId);
    expect(await cursor()).toMatchObject({ line: 1, ch: 1 });
  });

  test('when a user enters another API key after a reload, the GraphQL explorer updates the location, the plate, the event id and the time of the example', async () => {
    const [first, second] = [await newTenant(), await newTenant()];
    const { page } = await open();
    const input = async () => JSON.parse(await textOf(page, 'variables')).input;
    await openTab(page, 'RecordEntry');
    await typeKey(page, first.key);
    await expect.poll(() => textOf(page, 'variables')).toContain(first.locationId);
    const before = await input();
    const tabs = () => page.evaluate(() => localStorage.getItem('graphiql:tabState'));
    await expect.poll(tabs).toContain(first.locationId);
    await page.reload();
    await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
    await typeKey(page, second.key);
    await expect.poll(() => textOf(page, 'variables')).toContain(second.locationId);
    const { eventId, occurredAt, plate } = await input();
    expect(plate.plateNumber).toBe(second.entry.plateNumber);
    expect(eventId).not.toBe(before.eventId);
    expect(occurredAt > before.occurredAt).toBe(true);
    for (const { key } of [first, second]) expect(await storageOf(page)).not.toContain(key);
  });

  test.each(['{', 'null'])(
    'the GraphQL explorer opens when its stored values are damaged: %s',
    async (stored) => {
      const { page } = await open();
      await page.evaluate((text) => localStorage.setItem('parking-gateway:filled-values', text), stored);
      await page.reload();
      await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
    },
  );

  test('after a reload, the GraphQL explorer remembers the API key only if the user chose to remember the key', async () => {
    const { key } = await newTenant();
    const { page } = await open();
    await typeKey(page, key);
    await page.reload();
    await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
    expect(await page.getByLabel('API key').inputValue()).toBe('');

    await page.getByLabel('Remember on this device').check();
    await typeKey(page, key);
    await page.reload();
    await page.locator('#key-status[data-kind=valid]').waitFor();
    expect(await page.getByLabel('API key').inputValue()).toBe(key);

    await page.getByLabel('Remember on this device').uncheck();
    expect(await storageOf(page)).not.toContain(key);
  });

  test('the GraphQL explorer explains why an API key does not work', async () => {
    const { page } = await open();
    await page.getByLabel('API key').fill('pms_test_unknown');
    await page.locator('#key-status', { hasText: 'Invalid or missing API key' }).waitFor();
  });

  test('while the gateway is unreachable, the GraphQL explorer repeats the check of the API key at most 12 times, and checks the key again when the device is online', async () => {
    const { key } = await newTenant();
    const { page } = await open();
    let checks = 0;
    await page.route('**/graphql', (route) => {
      checks += 1;
      return route.abort();
    });
    await page.clock.install();
    await page.getByLabel('API key').fill(key);
    const checksAfterPause = async () => {
      await page.clock.runFor(retryPauseMs);
      return checks;
    };
    await expect.poll(checksAfterPause).toBe(1 + maxRetries);
    await page.locator('#key-status', { hasText: 'The gateway does not answer' }).waitFor();
    await page.clock.runFor(10 * retryPauseMs);
    expect(checks).toBe(1 + maxRetries);
    await page.unroute('**/graphql');
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page.locator('#key-status[data-kind=valid]').waitFor();
  });

  test('the GraphQL explorer opens the query that a link contains, and keeps the current query in the page address', async () => {
    const { key, locationId } = await newTenant();
    const query = 'query Linked($id: ID!) { location(id: $id) { name } }';
    const parameters = new URLSearchParams({ query, variables: JSON.stringify({ id: locationId }) });
    const { page, context } = await open(`/graphql?${parameters}`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    expect(await textOf(page, 'query')).toBe(query);
    await typeKey(page, key);
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('Test Location');

    await page.reload();
    await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
    expect(await textOf(page, 'query')).toBe(query);
    expect(JSON.parse(await textOf(page, 'variables'))).toEqual({ id: locationId });

    await openTab(page, 'MayEnter');
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toContain('plateAccess');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
  });

  test('when a user opens the GraphQL explorer for the first time through a link, the explorer keeps the variables of the link, even if the link contains the example plate', async () => {
    const { query } = createExamples(new Date())[1]!;
    const { key, locationId } = await newTenant();
    const values = { locationId: 'linked', plate: examplePlate };
    const variables = JSON.stringify(values);
    // The test opens an address that contains the variables before the query, but the explorer writes the query before
    // the variables. When the address contains the query before the variables, the explorer has therefore written the
    // address.
    const { page } = await open(`/graphql?${new URLSearchParams({ variables, query })}`);
    await expect.poll(() => page.url()).toBe(`${url}/graphql?${new URLSearchParams({ query, variables })}`);
    await openTab(page, 'AddVehicle');
    await expect.poll(() => textOf(page, 'query')).toContain('mutation AddVehicle');
    await openTab(page, 'MayEnter');
    await expect.poll(() => textOf(page, 'query')).toBe(query);
    expect(JSON.parse(await textOf(page, 'variables'))).toEqual(values);
    await typeKey(page, key);
    await openTab(page, 'AddVehicle');
    await expect.poll(() => textOf(page, 'variables')).toContain(locationId);
    await openTab(page, 'MayEnter');
    await expect.poll(() => textOf(page, 'query')).toBe(query);
    expect(JSON.parse(await textOf(page, 'variables'))).toEqual(values);
  });

  test('the GraphQL explorer does not put a query of 20,000 characters into the page address', async () => {
    const { page } = await open();
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`# ${'x'.repeat(20_000)}\n{ health { status } }`);
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  test('the GraphQL explorer works in a browser that limits how often a page may change its address', async () => {
    const { page, complaints } = await open();
    await page.evaluate(() => {
      // Safari allows 100 calls of `history.replaceState` within 30 seconds.
      let calls = 0;
      const replaceState = history.replaceState.bind(history);
      history.replaceState = (...change) => {
        calls += 1;
        if (calls > 100) throw new DOMException('too many calls', 'SecurityError');
        replaceState(...change);
      };
    });
    await page.evaluate(() => {
      const tabs = [...document.querySelectorAll<HTMLElement>('.graphiql-tab-button')];
      for (let click = 0; click < 120; click += 1) tabs[click % 2]!.click();
    });
    await openTab(page, 'WhyRefused');
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toContain('query WhyRefused');
    expect(complaints).toEqual([]);
  });

  test('the button for copying the link is disabled while the query in the open tab is too long for a link', async () => {
    const { page } = await open();
    const isDisabled = () => page.getByRole('button', { name: 'Copy link' }).isDisabled();
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`# ${'x'.repeat(20_000)}\n{ health { status } }`);
    await expect.poll(isDisabled).toBe(true);
    await openTab(page, 'MayEnter');
    await expect.poll(isDisabled).toBe(false);
  });

  test('the GraphQL explorer says that it cannot copy the link when the browser allows no access to the clipboard', async () => {
    const { page, complaints } = await open();
    // On an insecure origin, such as http://gateway.example, browsers define no `navigator.clipboard`.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copy the address of this page' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('after two clicks on the button "Copy link", the button shows the text "Copied" for some time, and then its usual text', async () => {
    const { page, context } = await open();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.clock.install();
    const button = page.locator('#copy-link');
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    for (let click = 0; click < 2; click += 1) {
      await page.evaluate(() => navigator.clipboard.writeText(''));
      await button.click();
      await expect.poll(clipboard).toBe(page.url());
    }
    expect(await button.innerText()).toBe('Copied');
    await page.clock.runFor(10_000);
    expect(await button.innerText()).toBe('Copy link');
  });

  test('the GraphQL explorer shows the results of a subscription as they arrive, and closes the stream when the user stops the subscription', async () => {
    const { key, locationId, entry } = await newTenant();
    const { page, complaints } = await open();
    await typeKey(page, key);
    await openTab(page, 'LiveStatus');
    await expect.poll(() => textOf(page, 'variables')).toContain(locationId);
    await run(page);
    const { plateType, plateCode, plateNumber } = entry;
    let events = 0;
    // The subscription of the explorer may start after the first parking event, so the test records parking events
    // until the explorer shows an event.
    await expect
      .poll(async () => {
        await gateway.graph(
          'mutation ($id: ID!, $input: ParkingEventInput!) { recordParkingEvent(locationId: $id, input: $input) { id } }',
          {
            key,
            variables: {
              id: locationId,
              input: {
                eventId: `gate-${events}`,
                kind: events++ % 2 === 0 ? 'ENTRY' : 'EXIT',
                occurredAt: new Date(),
                plate: { plateType, plateCode, plateNumber },
              },
            },
          },
        );
        return textOf(page, 'result');
      })
      .toContain('"occupied"');
    const closed = page.waitForEvent('requestfailed', (request) =>
      request.headers().accept!.includes('text/event-stream'),
    );
    await page.getByRole('button', { name: /Stop query/ }).click();
    await closed;
    expect(complaints).toEqual([]);
  });

  test.each([
    { width: 1280, colorScheme: 'light' },
    { width: 390, colorScheme: 'dark' },
  ] as const)(
    'axe-core finds no accessibility violation in the explorer on the screen %o',
    async (screen) => {
      const { key } = await newTenant();
      const { page } = await open('/graphql', screen);
      await expectAccessible(page);
      await openTab(page, 'MayEnter');
      await typeKey(page, key);
      await run(page);
      await expect.poll(() => textOf(page, 'result')).toContain('"allowed": true');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
      await page.getByRole('link', { name: 'Query', exact: true }).waitFor();
      await expectAccessible(page);
    },
  );

  test('the GraphQL explorer shows where to find an API key until the user enters a valid API key', async () => {
    const { key } = await newTenant();
    const { page } = await open();
    const steps = page.getByRole('region', { name: 'Two steps to the first answer' });
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('API key is required');
    expect(await steps.innerText()).toContain('data/first-keys.txt');
    await page.getByLabel('API key').first().fill('pms_test_unknown');
    await page.locator('#key-status[data-kind=refused]').waitFor();
    expect(await steps.isVisible()).toBe(true);
    await typeKey(page, key);
    await expect.poll(() => steps.count()).toBe(0);
  });

  test.each([
    { width: 1280, height: 800, colorScheme: 'light' },
    { width: 390, height: 780, colorScheme: 'dark' },
  ] as const)(
    'a user can run an operation before the editors of the GraphQL explorer are loaded, on the screen %o',
    async (screen) => {
      const { key, locationId } = await newTenant();
      const { width, height, colorScheme } = screen;
      const context = await newUser(browser, { viewport: { width, height }, colorScheme });
      const page = await context.newPage();
      let load = () => {};
      const loading = new Promise<void>((resolve) => (load = resolve));
      await page.route(/assets\/explorer\.\w+\.js$/, async (route) => {
        await loading;
        await route.continue();
      });
      await page.goto(`${url}/graphql`, { waitUntil: 'commit' });
      const operation = page.getByRole('textbox', { name: 'Operation' });
      await expect.poll(() => operation.inputValue()).toContain('query Locations');
      const answer = page.getByRole('region', { name: 'Answer' });
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await answer.getByText('API key is required').waitFor();
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await answer.getByText(locationId).waitFor();
      await expectAccessible(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);

      const typed = '{ viewer { name } }';
      await operation.fill(typed);
      load();
      await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
      await expect.poll(() => textOf(page, 'query')).toBe(typed);
      await expect.poll(() => textOf(page, 'result')).toContain(locationId);
      await page.locator('.graphiql-query-editor .CodeMirror-focused').waitFor();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' # more');
      await expect.poll(() => textOf(page, 'query')).toBe(`${typed} # more`);
      await openTab(page, 'MayEnter');
      await expect.poll(() => textOf(page, 'variables')).toContain(locationId);
    },
  );

  test('the GraphQL explorer says why its editors do not load, and retries until the editors load', async () => {
    const page = await (await newUser(browser)).newPage();
    let refused = 0;
    let isAllowed = false;
    await page.route('**/graphql/schema.graphql', async (route) => {
      if (isAllowed) return route.continue();
      refused += 1;
      return route.fulfill({ status: 429, headers: { 'Retry-After': '1' } });
    });
    await page.goto(`${url}/graphql`);
    await page
      .getByText('The schema could not be loaded (status 429). The next attempt is in 1 s.')
      .waitFor();
    await expect.poll(() => refused).toBeGreaterThan(1);
    isAllowed = true;
    await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
  });

  test('the GraphQL explorer downloads the schema again when the downloaded schema is incomplete', async () => {
    const page = await (await newUser(browser)).newPage();
    let isBroken = true;
    await page.route('**/graphql/schema.graphql', (route) =>
      isBroken
        ? route.fulfill({ status: 200, headers: { 'Retry-After': '1' }, body: '<html>' })
        : route.continue(),
    );
    await page.goto(`${url}/graphql`);
    await page
      .getByText('The schema could not be loaded (incomplete schema). The next attempt is in 1 s.')
      .waitFor();
    isBroken = false;
    await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
  });

  test('the GraphQL explorer has links to the home page and to the guide', async () => {
    const { page } = await open();
    for (const path of ['/', '/moving-to-graphql']) {
      expect(await page.locator(`header a[href=".${path}"]`).count(), path).toBeGreaterThan(0);
    }
  });

  test('the GraphQL explorer shows the reason when the gateway refuses a subscription', async () => {
    const { page } = await open();
    await openTab(page, 'LiveStatus');
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('API key is required');
  });

  test('the GraphQL explorer works on a narrow screen', async () => {
    const { key } = await newTenant();
    const { page } = await open('/graphql', { width: 390, height: 780 });
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await width()).toBeLessThanOrEqual(390);
    await typeKey(page, key);
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('totalCount');
    const answer = await page.locator('.result-window').boundingBox();
    expect(answer!.y).toBeGreaterThanOrEqual(0);
    expect(answer!.y + 200).toBeLessThanOrEqual(780);
    for (const editor of ['.graphiql-query-editor', '.graphiql-response']) {
      const box = await page.locator(editor).boundingBox();
      expect(box!.width).toBeGreaterThan(250);
      expect(box!.x + box!.width).toBeLessThanOrEqual(390);
    }
  });
});

/** These tests open the API reference in a browser. */
describe.runIf(hasBrowser)('the API reference in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test('a user finds a REST endpoint with the search of the API reference, and opens the equivalent GraphQL document in the explorer', async () => {
    const page = await (await newUser(browser)).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    await page.goto(`${url}/`);
    await page.getByRole('link', { name: 'Reference' }).first().click();
    await page.getByLabel('Search the reference').fill('PUT whitelist/{whitelistId}');
    await expect.poll(() => page.locator('article:visible').count()).toBe(1);
    await page.getByRole('link', { name: 'Open in the explorer' }).locator('visible=true').click();
    await page.locator('.graphiql-query-editor', { hasText: 'updateWhitelistEntry' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the API reference has a copy button for code, highlights the current section, and is accessible', async () => {
    const context = await newUser(browser);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    await page.goto(`${url}/reference#createWhitelistEntry`);
    const article = page.locator('#createWhitelistEntry');
    await article
      .locator('.code', { hasText: '$GATEWAY' })
      .first()
      .getByRole('button', { name: 'Copy' })
      .click();
    await article.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      'curl -X POST "$GATEWAY/api/',
    );
    await page.evaluate(() => document.getElementById('mutation-recordParkingEvent')!.scrollIntoView());
    await expect
      .poll(() => page.locator('.contents a[aria-current]').getAttribute('href'))
      .toBe('#mutation-recordParkingEvent');
    expect(await page.locator('pre:not([tabindex="0"])').count()).toBe(0);
    await page.getByLabel('Search the reference').fill('recordParkingEvent ');
    await expectAccessible(page);
  });

  test('keyboard users can skip to the content of the API reference, and can focus the code examples', async () => {
    const page = await (await newUser(browser)).newPage();
    await page.goto(`${url}/reference`);
    await page.keyboard.press('Tab');
    const skipLink = page.getByRole('link', { name: 'Skip to the content' });
    expect(await skipLink.evaluate((element) => element === document.activeElement)).toBe(true);
    const box = (await skipLink.boundingBox())!;
    expect(box.x >= 0 && box.y >= 0 && box.width > 40 && box.height > 10).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL((address) => address.hash === '#content');
    await page.keyboard.press('Tab');
    // The test has followed the link that skips the navigation. The next press of the Tab key therefore moves the focus
    // into the content.
    expect(await page.evaluate(() => document.activeElement!.closest('main') !== null)).toBe(true);
    const code = page.locator('main pre').first();
    await code.focus();
    expect(await code.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test('on a phone, the API reference opens as a short page, and a link in the table of contents opens the section of an endpoint', async () => {
    const page = await (
      await newUser(browser, { viewport: { width: 390, height: 780 }, colorScheme: 'dark' })
    ).newPage();
    await page.goto(`${url}/reference`);
    const height = () => page.evaluate(() => document.documentElement.scrollHeight);
    await expect.poll(height).toBeLessThan(5000);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await expectAccessible(page);
    await page.locator('.contents a[href="#createLocation"]').click();
    await page.locator('article#createLocation').waitFor();
    await page.keyboard.press('Control+Home');
    await page.getByLabel('Search the reference').fill('quota');
    await page.locator('article:visible').first().waitFor();
  });
});
