import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createExamples, fillVariables } from '../pages/browser/examples.ts';
import { openBrowser, hasBrowser } from './support/browser.ts';
import { newEntry, openTestGateway, serve } from './support/harness.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);

test('the examples of the explorer run as they are filled', async () => {
  const { key, locationId } = await gateway.newTenant();
  const entry = newEntry();
  const { plateType, plateCode, plateNumber } = entry;
  const plate = { plateType, plateCode, plateNumber };
  await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body: entry });
  for (const { query, variables } of createExamples(new Date())) {
    if (query.includes('\nsubscription ')) continue;
    const filled = fillVariables(JSON.stringify(variables ?? {}), { locationId, plate }, undefined);
    expect(filled).not.toContain('"plateNumber":"7"');
    const { body } = await gateway.graph(query, { key, variables: JSON.parse(filled) });
    expect(body.errors, query).toBeUndefined();
  }
  const { body } = await gateway.rest('GET', `/locations/${locationId}/status`, { key });
  expect(body.data).toMatchObject({ occupied: 3 });
});

/** The explorer in a real browser. */
describe.runIf(hasBrowser)('the explorer', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });

  /** Opens the explorer as a new user does, and watches what it asks for and complains of. */
  async function open(path = '/graphql', { width = 1280, height = 800 } = {}) {
    const context = await browser.newContext({ viewport: { width, height } });
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
  const openTab = (page: Page, name: string) => page.getByRole('tab', { name }).click();
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

  /** A location with a vehicle, and a key that reaches it. */
  async function newTenant() {
    const tenant = await gateway.newTenant();
    const entry = newEntry();
    await gateway.rest('POST', `/locations/${tenant.locationId}/whitelist`, { key: tenant.key, body: entry });
    return { ...tenant, entry };
  }

  test('has documentation and completion before a key is typed', async () => {
    const { page, complaints } = await open();
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await page
      .getByText('A gate’s question', { exact: false })
      .or(page.getByText("A gate's question"))
      .first()
      .waitFor();
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('{ plateAc');
    await page.locator('.CodeMirror-hint', { hasText: 'plateAccess' }).first().waitFor();
    expect(complaints).toEqual([]);
  });

  test('uses one key in every tab, fills the examples with what it reaches, and stores it nowhere', async () => {
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

  test('changes the filled ids with the key', async () => {
    const [first, second] = [await newTenant(), await newTenant()];
    const { page } = await open();
    await openTab(page, 'MayEnter');
    await typeKey(page, first.key);
    await expect.poll(() => textOf(page, 'variables')).toContain(first.locationId);
    await typeKey(page, second.key);
    await expect.poll(() => textOf(page, 'variables')).toContain(second.locationId);
  });

  test('remembers the key only on a device that is told to', async () => {
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

  test('says what is wrong with a key', async () => {
    const { page } = await open();
    await page.getByLabel('API key').fill('pms_test_unknown');
    await page.locator('#key-status', { hasText: 'Invalid or missing API key' }).waitFor();
  });

  test('opens a link, keeps it through a run and a reload, and shares it', async () => {
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

  test('makes no link that a server would refuse for its length', async () => {
    const { page } = await open();
    await page.locator('.graphiql-query-editor .CodeMirror').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(`# ${'x'.repeat(20_000)}\n{ health { status } }`);
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  test('shows a live subscription', async () => {
    const { key, locationId, entry } = await newTenant();
    const { page, complaints } = await open();
    await typeKey(page, key);
    await openTab(page, 'LiveStatus');
    await expect.poll(() => textOf(page, 'variables')).toContain(locationId);
    await run(page);
    const { plateType, plateCode, plateNumber } = entry;
    let events = 0;
    // The subscription may start after an event: vehicles enter until one is seen.
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
    await page.getByRole('button', { name: /Stop query/ }).click();
    expect(complaints).toEqual([]);
  });

  test('shows why a subscription is refused', async () => {
    const { page } = await open();
    await openTab(page, 'LiveStatus');
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('API key is required');
  });

  test('can be used on a narrow screen', async () => {
    const { key } = await newTenant();
    const { page } = await open('/graphql', { width: 390, height: 780 });
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await width()).toBeLessThanOrEqual(390);
    await typeKey(page, key);
    await run(page);
    await expect.poll(() => textOf(page, 'result')).toContain('totalCount');
    for (const editor of ['.graphiql-query-editor', '.graphiql-response']) {
      const box = await page.locator(editor).boundingBox();
      expect(box!.width).toBeGreaterThan(250);
      expect(box!.x + box!.width).toBeLessThanOrEqual(390);
    }
  });
});

/** The other pages in the same browser. */
describe.runIf(hasBrowser)('the reference in a browser', () => {
  test('finds an endpoint, and opens its document in the explorer', async () => {
    const browser = await openBrowser();
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    await page.goto(`${url}/`);
    await page.getByRole('link', { name: 'Reference' }).click();
    await page.getByLabel('Search the reference').fill('PUT whitelist/{whitelistId}');
    await expect.poll(() => page.locator('article:visible').count()).toBe(1);
    await page.getByRole('link', { name: 'Open in the explorer' }).locator('visible=true').click();
    await page.locator('.graphiql-query-editor', { hasText: 'updateWhitelistEntry' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
