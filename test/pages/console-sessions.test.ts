import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);
const { prisma } = gateway.database;

describe.runIf(hasBrowser)('API keys in several tabs of the console', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  /**
   * Opens two tabs of one browser with different API keys. Only the first tab uses the option "Remember on this
   * device".
   */
  async function openTwoTabs() {
    const [remembered, other] = [await gateway.newTenant(), await gateway.newTenant()];
    await prisma.location.update({ where: { id: remembered.locationId }, data: { name: 'Remembered site' } });
    await prisma.location.update({ where: { id: other.locationId }, data: { name: 'Other site' } });
    const { page: second } = await openConsole(browser, url, { key: other.key });
    await second.getByText('Other site').waitFor();
    const first = await second.context().newPage();
    await first.goto(`${url}/console#/sites`);
    await first.getByLabel('API key').fill(remembered.key);
    await first.getByLabel('Remember on this device').check();
    await first.getByRole('button', { name: 'Open' }).click();
    await first.getByText('Remembered site').waitFor();
    return { first, second, remembered, other };
  }

  test('leaving the console in one tab deletes only the API key of this tab', async () => {
    const { first, second, remembered, other } = await openTwoTabs();
    await second.getByRole('button', { name: 'Leave' }).click();
    // The second tab asks for an API key, and does not use the API key of the first tab.
    await second.getByRole('button', { name: 'Open', exact: true }).waitFor();
    expect(await second.getByLabel('API key').inputValue()).toBe('');
    expect(await second.getByLabel('Remember on this device').isChecked()).toBe(false);
    expect(await second.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain(other.key);
    expect(await second.evaluate(() => ({ ...localStorage }))).toEqual({
      'parking-gateway:key': remembered.key,
    });
    expect(await second.getByText('Other site').count()).toBe(0);
    await first.reload();
    await first.getByText('Remembered site').waitFor();
  });

  test('when a user leaves the console, open requests end, and the next user sees no cached data of the previous API key', async () => {
    const { second, remembered } = await openTwoTabs();
    await second.getByText('Live', { exact: true }).waitFor();
    const ended = second.waitForEvent('requestfailed', (request) =>
      /subscription SitesLive/.test(request.postData() ?? ''),
    );
    await second.getByRole('button', { name: 'Leave' }).click();
    await ended;
    await second.getByLabel('API key').fill(remembered.key);
    await second.getByRole('button', { name: 'Open', exact: true }).click();
    await second.getByText('Remembered site').waitFor();
    expect(await second.getByText('Other site').count()).toBe(0);
  });

  test('when the API key of one tab is revoked, the console does not delete the API key of another tab', async () => {
    const { first, second, remembered, other } = await openTwoTabs();
    await prisma.apiKey.updateMany({
      where: { companies: { some: { id: other.companyId } } },
      data: { revokedAt: new Date() },
    });
    await second.route('**/graphql', (route) =>
      route.fulfill({
        status: 401,
        json: { data: null, errors: [{ message: 'Invalid key', extensions: { code: 'UNAUTHORIZED' } }] },
      }),
    );
    await second.evaluate(() => (location.hash = '#/keys'));
    await second.getByText('The gateway no longer accepts the key').waitFor();
    expect(await second.evaluate(() => ({ ...localStorage }))).toEqual({
      'parking-gateway:key': remembered.key,
    });
    await first.reload();
    await first.getByText('Remembered site').waitFor();
  });

  test('when a late response says that the previous API key is invalid, the user stays signed in with the current API key', async () => {
    const { first, second, remembered } = await openTwoTabs();
    const { locationId } = remembered;
    await first.close();
    let reject!: () => void;
    const mayReject = new Promise<void>((resolve) => {
      reject = resolve;
    });
    let held = 0;
    await second.route('**/graphql', async (route) => {
      if (!/mutation IssueKey/.test(route.request().postData() ?? '')) return route.continue();
      held += 1;
      await mayReject;
      const errors = [{ message: 'Invalid key', extensions: { code: 'UNAUTHORIZED' } }];
      return route.fulfill({ status: 401, json: { data: null, errors } });
    });
    await second.evaluate(() => (location.hash = '#/keys'));
    await second.getByRole('button', { name: 'Issue a key' }).click();
    const dialog = second.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Late');
    await dialog.getByLabel('READ_STATUS').check();
    await dialog.getByRole('button', { name: 'Issue a key' }).click();
    await expect.poll(() => held).toBe(1);
    // The dialog covers the button "Leave", so the test activates this button without the mouse.
    await second.locator('button', { hasText: 'Leave' }).evaluate((button: HTMLElement) => button.click());
    await second.getByLabel('API key').fill(remembered.key);
    await second.getByRole('button', { name: 'Open', exact: true }).click();
    await second.getByRole('heading', { name: 'Keys' }).waitFor();
    const answered = second.waitForResponse((response) => response.status() === 401);
    reject();
    await answered;
    await second.evaluate((hash) => (location.hash = hash), `#/sites/${locationId}`);
    await second.getByRole('heading', { name: 'Remembered site' }).waitFor();
    expect(await second.getByLabel('API key').count()).toBe(0);
  });
});
