import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Permission } from '../../prisma/generated/client/enums.ts';
import { newId } from '../../src/ids.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { openConsole, openImport } from '../support/console.ts';
import { newEntry, newSlug, openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);
/**
 * A second gateway, which only one test uses. The test ends all event streams of the second gateway, and the event
 * streams of the other tests stay open.
 */
const ending = await openTestGateway();
const endingUrl = await serve(ending);
const { prisma } = gateway.database;

/**
 * Returns how many points of its hourly rate limit an API key has used. To read the number of used points, the function
 * sends a request that costs one point. The result does not include the rate limit point that the call of this function
 * costs.
 */
async function pointsUsed(key: string): Promise<number> {
  const { body } = await gateway.graph('{ viewer { rateLimit { name limit remaining } } }', { key });
  const { limit, remaining } = body.data.viewer.rateLimit[0];
  return limit - remaining - 1;
}

/** These tests use the console in a browser, mostly when data is missing or a request fails. */
describe.runIf(hasBrowser)('the console when data is missing or requests fail', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test('the console forgets an API key when the tab closes, unless the user asks to remember the key', async () => {
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('Enter an API key').waitFor();
    await page.getByLabel('API key').fill('pms_test_unknown');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('alert').getByText('Invalid or missing API key').waitFor();

    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    const remembered = () => page.evaluate(() => JSON.stringify({ ...localStorage }));
    expect(await remembered()).not.toContain(key);
    expect(page.url()).not.toContain(key);
    await page.reload();
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    const { page: otherTab } = await openConsole(browser, url);
    await otherTab.getByLabel('API key').waitFor();

    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByLabel('API key').fill(key);
    await page.getByLabel('Remember on this device').check();
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    expect(await remembered()).toContain(key);
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await remembered()).not.toContain(key);
  });

  test('when a tab uses another API key, the console does not replace the API key that the browser remembers', async () => {
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key });
    await page.evaluate(() => localStorage.setItem('parking-gateway:key', 'other-key'));
    await page.reload();
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    expect(await page.evaluate(() => ({ ...localStorage }))).toEqual({ 'parking-gateway:key': 'other-key' });
  });

  test('the console reports a lost connection, and reloads the page when the network is back', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { page, goTo } = await openConsole(browser, url, { key });
    // The browser loads the scripts of two console pages before the network goes offline, so that only GraphQL requests
    // fail.
    await goTo(`whitelist/${locationId}`);
    await goTo('sites');
    await page.context().setOffline(true);
    await page.evaluate((hash) => (location.hash = hash), `#/whitelist/${locationId}`);
    await page.getByRole('button', { name: 'Search', exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Plate number' }).fill('4');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('The gateway is unreachable').first().waitFor();
    await page.context().setOffline(false);
    await page.getByText('No entry matches the search.').waitFor();
    await expect.poll(() => page.getByText('The gateway is unreachable').count()).toBe(0);
  });

  test('the console reports a script that cannot be loaded', async () => {
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key });
    await page.context().setOffline(true);
    await page.evaluate(() => (location.hash = '#/audit'));
    await page.getByRole('alert').getByText('This part of the console could not be loaded').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  });

  test('when the gateway ends the event stream of location statuses, the console opens a new stream', async () => {
    const { key } = await ending.newTenant();
    const { page, operations } = await openConsole(browser, endingUrl, { key });
    await page.getByText('Live').waitFor();
    ending.endStreams();
    await expect.poll(() => operations.filter((name) => name === 'SitesLive').length).toBeGreaterThan(1);
  });

  test('when its API key is revoked, the console signs out and shows the reason, with and without open event streams', async () => {
    const { key, companyId } = await gateway.newTenant();
    const { page, goTo } = await openConsole(browser, url, { key });
    const operator = await gateway.newKey({ unrestricted: true });
    const revokeKey = async () => {
      const { id } = await prisma.apiKey.findFirstOrThrow({
        where: { companies: { some: { id: companyId } }, revokedAt: null },
      });
      const { body } = await gateway.graph('mutation ($id: ID!) { revokeApiKey(id: $id) { id } }', {
        key: operator,
        variables: { id },
      });
      expect(body.errors).toBeUndefined();
    };
    const expectSignedOut = async (secret: string) => {
      await page.getByLabel('API key').waitFor();
      await page.getByRole('alert').getByText('The gateway no longer accepts the key').waitFor();
      expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain(secret);
    };
    await page.getByText('Live', { exact: true }).waitFor();
    await revokeKey();
    await expectSignedOut(key);

    const second = await gateway.newKey({ companyIds: [companyId] });
    await page.getByLabel('API key').fill(second);
    await page.getByRole('button', { name: 'Open' }).click();
    await goTo('key');
    await page.getByRole('heading', { name: 'My key' }).waitFor();
    await revokeKey();
    await page.evaluate(() => (location.hash = '#/audit'));
    await expectSignedOut(second);
  });

  test.each<[Permission, string[], string]>([
    ['READ_STATUS', ['Sites', 'My key'], 'Test Location'],
    ['READ_LOCATIONS', ['Sites', 'My key'], 'Test Location'],
    ['READ_ACTIVITY', ['Sites', 'My key'], 'Identifier of the location'],
    ['READ_WHITELIST', ['Whitelist', 'Why?', 'My key'], 'Identifier of the location'],
    ['MANAGE_WEBHOOKS', ['My key', 'Webhooks'], 'Permissions'],
    ['ADMIN', ['My key', 'Keys', 'Audit log'], 'Permissions'],
    ['WRITE_ACTIVITY', ['My key'], 'Permissions'],
  ])(
    'with an API key that has only the permission %s, the console shows only the views for this permission, and no error',
    async (permission, views, shown) => {
      const { companyId } = await gateway.newTenant();
      const key = await gateway.newKey({ companyIds: [companyId], permissions: [permission] });
      const { page } = await openConsole(browser, url, { key });
      const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
      expect(await links.allInnerTexts()).toEqual(views);
      await page.getByText(shown).first().waitFor();
      for (const view of views) {
        await links.filter({ hasText: view }).first().click();
        await expect.poll(() => page.locator('.loading').count()).toBe(0);
        expect(await page.getByRole('alert').count(), view).toBe(0);
      }
    },
  );

  test('when the API key reaches its rate limit, the console counts down the seconds and then repeats its request', async () => {
    const { companyId } = await gateway.newTenant();
    const key = await gateway.newKey({ companyIds: [companyId], hourlyLimit: 1000, burstLimit: 1000 });
    const { page } = await openConsole(browser, url, { key });
    await page.route('**/graphql', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '3', 'Content-Type': 'application/json' },
        body: JSON.stringify({
          data: null,
          errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
        }),
      }),
    );
    await page.evaluate(() => (location.hash = '#/keys'));
    await page.getByText(/Rate limit reached; retrying in \d+ s/).waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('region', { name: 'Keys' }).waitFor();
  });

  test('the console loads 10,000 whitelist entries or 200 locations page by page', async () => {
    const { companyId, locationId, key } = await gateway.newTenant();
    await prisma.location.createMany({
      data: Array.from({ length: 200 }, (_, index) => ({
        ...{ id: newId(), companyId, name: `Site ${index}`, slug: newSlug(), timezone: 'Asia/Dubai' },
      })),
    });
    await prisma.whitelistEntry.createMany({
      data: Array.from({ length: 10_000 }, (_, index) => ({
        ...newEntry({ plateNumber: String(index) }),
        ...{ id: newId(), locationId },
      })),
    });
    const { page, goTo } = await openConsole(browser, url, { key });
    const answers: number[] = [];
    page.on('response', async (response) => {
      if (response.url().endsWith('/graphql') && response.headers()['content-type']?.includes('json')) {
        answers.push((await response.body()).length);
      }
    });
    await expect
      .poll(() =>
        page
          .getByRole('listitem')
          .filter({ has: page.getByRole('heading') })
          .count(),
      )
      .toBe(20);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('heading', { name: 'Site 20', exact: true }).waitFor();
    await goTo(`whitelist/${locationId}`);
    await expect.poll(() => page.getByRole('row').count()).toBe(26);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('cell', { name: 'DXB A 25', exact: true }).waitFor();

    const location = page.getByRole('combobox', { name: 'Location' });
    expect(await location.inputValue()).toBe('Test Location');
    // A drop-down list closes when the page scrolls, so the test scrolls the page before it opens the list.
    await page.evaluate(async () => {
      scrollTo(0, 0);
      for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
    });
    await location.click();
    await expect.poll(() => page.getByRole('option').count()).toBe(20);
    await page.getByText('There are more locations. Type a part of a name to find a location.').waitFor();
    await location.fill('site 19');
    await expect.poll(() => page.getByRole('option').count()).toBe(11);
    await location.fill('no such site');
    await page.getByText('No location name contains this text.').waitFor();
    await location.fill('site 199');
    await page.getByRole('option', { name: 'Site 199' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('No entry matches the search.').waitFor();
    await expect.poll(() => location.inputValue()).toBe('Site 199');
    await location.fill('site 3');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('listbox').count()).toBe(0);
    await page.getByRole('textbox', { name: 'Plate number' }).focus();
    expect(await location.inputValue()).toBe('Site 199');
    expect(Math.max(...answers)).toBeLessThan(60_000);
  });

  test('when an import stops after 1,000 of 1,001 rows, the console can import the last row', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { page, operations } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const stored = () => prisma.whitelistEntry.count({ where: { locationId } });
    const tableReads = () => operations.filter((name) => name === 'Whitelist').length;
    const dryRunText = page.getByText('nothing is changed');
    const rows = Array.from({ length: 1001 }, (_, index) => `unit-${index},DXB,C,${index + 1}`);
    await openImport(page, rows);
    const start = page.getByRole('button', { name: 'Import 1,001 rows' });
    await start.waitFor();
    expect(await dryRunText.count()).toBe(1);

    let imports = 0;
    let whileSending = {};
    await page.route('**/graphql', async (route) => {
      if (route.request().postDataJSON().variables?.dryRun !== false) return route.continue();
      imports += 1;
      if (imports === 2) return route.abort();
      const isDisabled = await page.getByRole('button', { name: 'Importing rows' }).isDisabled();
      whileSending = { isDisabled, dryRunTexts: await dryRunText.count() };
      return route.continue();
    });
    const readsBefore = tableReads();
    await start.click();
    await page.getByText('The import stopped after 1,000 of 1,001 rows.').waitFor();
    expect(whileSending).toEqual({ isDisabled: true, dryRunTexts: 0 });
    expect(await dryRunText.count()).toBe(0);
    expect(await stored()).toBe(1000);
    await expect.poll(tableReads).toBeGreaterThan(readsBefore);

    await page.getByRole('button', { name: 'Import the other 1 row' }).click();
    await page.getByText('Imported.').waitFor();
    await page.getByText('1001 new, 0 changed, 0 unchanged, 0 rejected').waitFor();
    expect(await stored()).toBe(1001);
    expect(imports).toBe(3);
  });

  test('when the dry run in a newly selected import mode fails, the console hides the import button', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    await openImport(page, ['unit-1,DXB,C,1']);
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    await page.route('**/graphql', (route) => route.abort());
    await page.getByRole('button', { name: /Rows already on the whitelist/ }).click();
    await page.getByRole('option', { name: 'Update' }).click();
    await page.getByText('The gateway is unreachable').first().waitFor();
    expect(await page.getByRole('button', { name: 'Import 1 row' }).count()).toBe(0);
  });

  test('the console can issue an API key for a location that is not on the first page of the list', async () => {
    const { companyId, key } = await gateway.newTenant();
    const ids = Array.from({ length: 200 }, () => newId());
    await prisma.location.createMany({
      data: ids.map((id, index) => ({
        ...{ id, companyId, name: `Site ${index}`, slug: newSlug(), timezone: 'Asia/Dubai' },
      })),
    });
    const { page } = await openConsole(browser, url, { key, place: 'keys' });
    await page.getByRole('button', { name: 'Issue a key' }).click();
    const dialog = page.getByRole('dialog');
    const name = `Gate ${newId()}`;
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('READ_STATUS').check();
    await page.getByRole('combobox', { name: 'Add a location' }).pressSequentially('199');
    await page.getByRole('option', { name: 'Site 199' }).click();
    await expect.poll(() => dialog.getByLabel('Site 199').isChecked()).toBe(true);
    await dialog.getByRole('button', { name: 'Issue a key' }).click();
    await dialog.getByText(/^pms_/).waitFor();
    const issued = await prisma.apiKey.findFirstOrThrow({ where: { name }, include: { locations: true } });
    expect(issued.locations.map(({ id }) => id)).toEqual([ids[199]]);
  });

  test('opening the page of a location in the console costs at most five rate limit points, and the open page sends at most one request per minute', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { page, goTo, operations } = await openConsole(browser, url, { key });
    await page.getByText('Live').waitFor();
    await expect.poll(() => operations).toContain('SiteHistories');
    const before = await pointsUsed(key);
    await goTo(`sites/${locationId}`);
    await page.getByText('Live').waitFor();
    await page.getByRole('heading', { name: 'Latest events' }).waitFor();
    await page.getByRole('img', { name: 'Occupancy' }).waitFor();
    const opened = await pointsUsed(key);
    expect(opened - before - 1).toBeLessThanOrEqual(5);
    const sent = operations.length;
    await page.clock.install();
    await page.clock.runFor(5 * 60_000);
    expect(operations.length - sent).toBeLessThanOrEqual(5);
  });
});
