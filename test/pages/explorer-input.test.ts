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
    'the console and the GraphQL explorer say that the key is invalid when it contains other characters than ASCII: %j',
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
});
