import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { openActivity } from '../support/activity.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { drawFrames, holdRequest, openConsole } from '../support/console.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

/**
 * Creates a promise and a function that resolves the promise. A test uses them to delay a response: the response waits
 * for the promise, and the test resolves the promise later.
 */
function newGate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe.runIf(hasBrowser)('the view Why? in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  /** Opens the console view "Why?" for a new location whose whitelist contains the plate `DXB/A/7`. */
  async function openWhy() {
    const { key, locationId } = await gateway.newTenant();
    await openActivity(gateway, key).list(locationId, 'DXB/A/7');
    const place = `why/${locationId}`;
    const { page } = await openConsole(browser, url, { key, place, timezoneId: 'Europe/Berlin' });
    const admitted = page.getByRole('heading', { name: 'May enter' });
    const refused = page.getByRole('heading', { name: 'May not enter' });
    const text = page.getByLabel('Text of the camera');
    const ask = () => page.getByRole('button', { name: 'Ask', exact: true }).click();
    return { page, admitted, refused, text, ask };
  }

  test('the console view "Why?" hides a decision as soon as the user changes the camera text, the time or the field "Ask by"', async () => {
    const { page, admitted, text, ask } = await openWhy();
    const decide = async () => {
      await text.fill('DXB A 7');
      await ask();
      await admitted.waitFor();
    };
    await decide();
    await text.fill('DXB A 8');
    expect(await admitted.count()).toBe(0);
    await decide();
    await page.getByLabel('Time (Europe/Berlin; now when empty)').fill('2026-01-01T00:00');
    expect(await admitted.count()).toBe(0);
    await decide();
    await page.getByRole('button', { name: /Ask by/ }).click();
    await page.getByRole('option', { name: 'Plate' }).click();
    await expect.poll(() => admitted.count()).toBe(0);
  });

  test('when the location loads late, or the user chooses another location, the views Whitelist and Why? keep the typed text', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const otherId = await gateway.newLocation(companyId);
    await gateway.database.prisma.location.update({ where: { id: otherId }, data: { name: 'Garage North' } });
    await openActivity(gateway, key).list(locationId, 'DXB/A/7');
    const { page } = await openConsole(browser, url, { key });
    const open = (view: string) =>
      page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
    const isAt = (view: string, id: string) =>
      page.waitForURL((address) => address.hash === `#/${view}/${id}`);
    const location = page.getByRole('combobox', { name: 'Location' });
    const chooseOther = async () => {
      await location.fill('north');
      await page.getByRole('option', { name: 'Garage North' }).click();
    };
    const admitted = page.getByRole('heading', { name: 'May enter' });
    const text = page.getByLabel('Text of the camera');
    const locations = await holdRequest(page, 'FindLocations');
    await open('Why?');
    await locations.held;
    await text.fill('DXB A');
    await locations.release();
    await isAt('why', locationId);
    await text.pressSequentially(' 7');
    await page.keyboard.press('Enter');
    await admitted.waitFor();
    expect(await text.inputValue()).toBe('DXB A 7');
    await chooseOther();
    await isAt('why', otherId);
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    await expect.poll(() => admitted.count()).toBe(0);
    expect(await text.inputValue()).toBe('DXB A 7');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('heading', { name: 'May not enter' }).waitFor();

    await page.goBack();
    await isAt('why', locationId);
    await expect.poll(() => location.inputValue()).toBe('Test Location');
    await page.goBack();
    await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
    await drawFrames(page);
    expect(new URL(page.url()).hash).toBe('#/sites');

    await open('Whitelist');
    await isAt('whitelist', locationId);
    const number = page.getByRole('textbox', { name: 'Plate number' });
    await number.fill('7');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'DXB A 7', exact: true }).waitFor();
    await chooseOther();
    await page.getByText('No entry matches the search.').waitFor();
    expect(await number.inputValue()).toBe('7');
    await expect.poll(() => location.inputValue()).toBe('Garage North');
    await location.focus();
    await page.goBack();
    await page.getByRole('cell', { name: 'DXB A 7', exact: true }).waitFor();
    await expect.poll(() => location.inputValue()).toBe('Test Location');
    await expect.poll(() => page.getByRole('listbox').count()).toBe(0);
  });

  test('the console view "Why?" never shows the decision for an earlier question, even if the request for the new question fails', async () => {
    const { page, admitted, text, ask } = await openWhy();
    await text.fill('DXB A 7');
    await ask();
    await admitted.waitFor();
    const { opened: mayFail, open: fail } = newGate();
    await page.route('**/graphql', async (route) => {
      await mayFail;
      await route.abort();
    });
    await text.fill('DXB A 8');
    await ask();
    await page.getByText('Loading…').waitFor();
    expect(await admitted.count()).toBe(0);
    fail();
    await page.getByText('The gateway is unreachable').waitFor();
    expect(await admitted.count()).toBe(0);
  });

  test('when the response to an earlier question arrives late, the console view "Why?" keeps the decision for the current question', async () => {
    const { page, admitted, refused, text, ask } = await openWhy();
    const { opened: mayAnswer, open: answer } = newGate();
    let held = 0;
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('DXB A 7')) {
        held += 1;
        await mayAnswer;
      }
      // If the browser has already cancelled the request for the first question, `route.continue()` fails, and the
      // test ignores this error.
      await route.continue().catch(() => undefined);
    });
    await text.fill('DXB A 7');
    await ask();
    await expect.poll(() => held).toBe(1);
    await text.fill('DXB A 8');
    await ask();
    await refused.waitFor();
    answer();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await admitted.count()).toBe(0);
    expect(await refused.count()).toBe(1);
  });

  test('the console view "Why?" shows an error at the input field with the wrong value, and removes the error when the user changes the value', async () => {
    const { page, text, ask } = await openWhy();
    await text.fill('7'.repeat(20_000));
    await ask();
    await expect.poll(() => text.getAttribute('aria-invalid')).toBe('true');
    await text.fill('DXB A 7');
    expect(await text.getAttribute('aria-invalid')).toBeNull();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('button', { name: /Ask by/ }).click();
    await page.getByRole('option', { name: 'Plate' }).click();
    await page.getByLabel('Plate type').fill('DXB');
    await page.getByLabel('Plate code').fill('A');
    await ask();
    const number = page.getByLabel('Plate number');
    await expect.poll(() => number.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Plate type').getAttribute('aria-invalid')).toBeNull();
    await number.fill('7');
    const at = page.getByLabel('Time (Europe/Berlin; now when empty)');
    await at.fill('1960-01-01T00:00');
    await ask();
    await expect.poll(() => at.getAttribute('aria-invalid')).toBe('true');
    expect(await number.getAttribute('aria-invalid')).toBeNull();
  });
});
