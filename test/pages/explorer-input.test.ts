import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { serve, sharedTestGateway } from '../support/harness.ts';
import { newUser } from '../support/user.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

describe.runIf(hasBrowser)('unusual input in the pages for API keys', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  const openPage = async (path: string) => {
    const page = await (await newUser(browser)).newPage();
    await page.goto(url + path);
    return page;
  };

  test.each(['Operation', 'Variables'])(
    'the Tab key moves the focus out of the editor %s of the GraphQL explorer, and changes no text',
    async (label) => {
      const page = await openPage('/graphql');
      const editor = page.locator('.CodeMirror', { has: page.getByLabel(label, { exact: true }) });
      await editor.waitFor();
      const isInEditor = () =>
        editor.evaluate((element) => element.querySelector('textarea') === document.activeElement);
      const before = await editor.innerText();
      for (const key of ['Tab', 'Shift+Tab']) {
        await editor.locator('textarea').focus();
        await page.keyboard.press(key);
        await expect.poll(isInEditor).toBe(false);
      }
      expect(await editor.innerText()).toBe(before);
    },
  );

  test.each(['ключ', 'pms_live_0\u200b', 'pms_live_“0”'])(
    'the console and the GraphQL explorer say that an API key with a non-ASCII character is invalid: %j',
    async (key) => {
      const refusal = 'Invalid or missing API key';
      const consolePage = await openPage('/console');
      await consolePage.getByLabel('API key').fill(key);
      await consolePage.getByRole('button', { name: 'Open' }).click();
      await consolePage.getByRole('alert').waitFor();
      expect(await consolePage.getByRole('alert').innerText()).toContain(refusal);
      const explorer = await openPage('/graphql');
      await explorer.getByLabel('API key').fill(key);
      await expect.poll(() => explorer.locator('#key-status').innerText()).toBe(refusal);
    },
  );

  test('the console and the GraphQL explorer work when the browser forbids the pages to store data', async () => {
    const { key } = await gateway.newTenant();
    const page = await (await newUser(browser)).newPage();
    await page.addInitScript(() => {
      for (const area of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, area, {
          get() {
            throw new DOMException('Access is denied for this document', 'SecurityError');
          },
        });
      }
    });
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.goto(`${url}/console`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('Test Location').first().waitFor();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('button', { name: 'Open' }).waitFor();
    await page.goto(`${url}/graphql`);
    await page.getByLabel('API key').fill(key);
    await page.locator('.graphiql-execute-button').click();
    await page.locator('.result-window', { hasText: 'Test Location' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('typing an API key in the explorer does not delete the API key that another tab has stored', async () => {
    const { key } = await gateway.newTenant();
    const explorer = await openPage('/graphql');
    const other = await explorer.context().newPage();
    await other.goto(`${url}/console`);
    await other.getByLabel('API key').fill(key);
    await other.getByLabel('Remember on this device').check();
    await other.getByRole('button', { name: 'Open' }).click();
    await other.getByText('Test Location').first().waitFor();
    await explorer.getByLabel('API key').fill('pms_test_other');
    await expect.poll(() => explorer.locator('#key-status').innerText()).not.toBe('No key yet');
    expect(await explorer.evaluate(() => localStorage.getItem('parking-gateway:key'))).toBe(key);
  });
});
