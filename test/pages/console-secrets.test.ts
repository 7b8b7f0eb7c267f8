import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import {
  drawFrames,
  holdRequest,
  openConsole,
  pressEscapeInDialog,
  tryToDismiss,
} from '../support/console.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

async function fillIssueForm(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Issue a key' }).click();
  await dialog.getByLabel('Name').fill(`Gate ${newId()}`);
  await dialog.getByLabel('READ_STATUS').check();
  await dialog.getByLabel('Test Location').first().check();
}

const openRotation = (page: Page) =>
  page
    .getByRole('button', { name: /^Rotate / })
    .first()
    .click();

/** Goes back to the previous address of the page, like the Back button of the browser. */
async function goBack(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        addEventListener('popstate', resolve, { once: true });
        history.back();
      }),
  );
  await drawFrames(page);
}

/** The dialogs that show the secret of an API key, each with the GraphQL mutation that creates the secret. */
const dialogs = [
  { operation: 'IssueKey', button: 'Issue a key', open: fillIssueForm },
  { operation: 'RotateKey', button: 'Rotate', open: openRotation },
];

describe.runIf(hasBrowser)('the secrets that the console shows once', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test.each(dialogs)(
    'the dialog of the button $button stays open until the user has copied the secret or presses Done',
    async ({ operation, button, open }) => {
      const { key } = await gateway.newTenant();
      const permissions = ['clipboard-read', 'clipboard-write'];
      const { page } = await openConsole(browser, url, { key, place: 'keys', permissions });
      const dialog = page.getByRole('dialog');
      const secret = dialog.getByText(/^pms_/);
      const creation = await holdRequest(page, operation);
      await open(page);
      await dialog.getByRole('button', { name: button }).click();
      await creation.held;
      await tryToDismiss(page);
      expect(await dialog.count()).toBe(1);
      await creation.release();
      await secret.waitFor();
      await tryToDismiss(page);
      expect(await secret.count()).toBe(1);
      await dialog.getByRole('button', { name: 'Copy' }).click();
      await dialog.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await secret.innerText());
      await pressEscapeInDialog(page);
      await expect.poll(() => dialog.count()).toBe(0);
      await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(button);

      await open(page);
      await dialog.getByRole('button', { name: button }).click();
      await secret.waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await expect.poll(() => dialog.count()).toBe(0);
    },
  );

  test.each(dialogs)(
    'when the user goes back or reloads the page, the dialog of the button $button keeps a secret that the user has not copied yet',
    async ({ button, open }) => {
      const { key } = await gateway.newTenant();
      const permissions = ['clipboard-read', 'clipboard-write'];
      const { page, goTo } = await openConsole(browser, url, { key, permissions });
      await goTo('keys');
      const dialog = page.getByRole('dialog');
      const secret = dialog.getByText(/^pms_/);
      await open(page);
      await dialog.getByRole('button', { name: button }).click();
      await secret.waitFor();
      await goBack(page);
      expect(await secret.count()).toBe(1);
      expect(page.url()).toBe(`${url}/console#/keys`);
      const asking = page.waitForEvent('dialog');
      // The simulated user refuses to reload the page (see below). Without a time limit, Playwright would wait up to 30
      // s for the reload.
      const reloading = page.reload({ timeout: 2_000 }).catch(() => undefined);
      const question = await asking;
      expect(question.type()).toBe('beforeunload');
      await question.dismiss();
      await reloading;
      expect(await secret.count()).toBe(1);
      await dialog.getByRole('button', { name: 'Copy' }).click();
      await dialog.getByRole('button', { name: 'Copied' }).waitFor();
      await goBack(page);
      expect(await dialog.count()).toBe(0);
      expect(page.url()).toBe(`${url}/console#/sites`);
    },
  );

  test('the console rotates an API key only if the user has entered a grace period', async () => {
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key, place: 'keys' });
    await openRotation(page);
    const dialog = page.getByRole('dialog');
    const rotate = dialog.getByRole('button', { name: 'Rotate' });
    await dialog.getByLabel('Grace period').fill('');
    expect(await rotate.isDisabled()).toBe(true);
    await dialog.getByLabel('Grace period').fill('0');
    expect(await rotate.isDisabled()).toBe(false);
  });
});
