import type { Browser, BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { expectAccessible, openConsole } from '../support/console.ts';
import { seedDemo } from '../support/demo.ts';
import { startDemoProcess } from '../support/demo-process.ts';
import { openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);
const key = await seedDemo(gateway);
const operatorKey = await gateway.newKey({ unrestricted: true });
const { prisma } = gateway.database;
const marina = await prisma.location.findFirstOrThrow({ where: { slug: 'marina-gate' } });

/** Opens the link "as GraphQL" of a console view, and returns the query and the variables that the explorer shows. */
async function openInExplorer(page: Page, context: BrowserContext) {
  const opening = context.waitForEvent('page');
  await page.getByRole('link', { name: 'as GraphQL' }).click();
  const explorer = await opening;
  await explorer.locator('.graphiql-query-editor .CodeMirror').waitFor();
  const valueOf = (editor: string) =>
    explorer.evaluate((selector) => {
      const element = document.querySelector(`${selector} .CodeMirror`);
      return (element as never as { CodeMirror: { getValue(): string } }).CodeMirror.getValue();
    }, editor);
  return {
    explorer,
    query: await valueOf('.graphiql-query-editor'),
    variables: JSON.parse(await valueOf('.graphiql-editor-tool')) as Record<string, unknown>,
  };
}

async function askWhy(page: Page, text: string) {
  await page.getByLabel('Text of the camera').fill(text);
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
}

describe.runIf(hasBrowser)('the console with the demo data', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test('with demo data, the console shows a nearly full garage and a refused plate, and opens the GraphQL query of each view', async () => {
    const started = await startDemoProcess();
    onTestFinished(() => started.end());
    const { demoKey } = started;
    const { page, complaints } = await openConsole(browser, started.url, { key: demoKey });
    const garage = page.getByRole('listitem').filter({ hasText: 'Creek Harbour Residences' });
    await garage.getByText('Nearly full').waitFor();
    await garage.getByRole('meter', { name: '23 of 24' }).waitFor();
    const sites = await openInExplorer(page, page.context());
    expect(sites.query).toContain('query Sites');
    expect(sites.variables).toEqual({ first: 20 });

    await page.getByRole('link', { name: 'Why?' }).click();
    await page.getByRole('combobox', { name: 'Location' }).waitFor();
    await askWhy(page, 'RAK V 9934');
    await page.getByRole('heading', { name: 'May not enter' }).waitFor();
    await page.getByText(/Your permit ended on \w+day \d+ \w+ at \d\d:\d\d/).waitFor();
    const why = await openInExplorer(page, page.context());
    expect(why.query).toContain('query Why');
    expect(why.variables).toMatchObject({ reading: { text: 'RAK V 9934' } });
    await why.explorer.getByLabel('API key').first().fill(demoKey);
    await why.explorer.getByRole('button', { name: /Execute query/ }).click();
    await why.explorer.locator('.result-window', { hasText: 'EXPIRED' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('with demo data, the console shows the last week of a location, even if the gateway has just started', async () => {
    const { page } = await openConsole(browser, url, { key, place: `sites/${marina.id}` });
    await page.getByRole('heading', { name: 'Marina Gate Tower' }).waitFor();
    await page.getByRole('radio', { name: 'Week' }).click();
    await page.getByText('As a table').first().click();
    const rows = page.locator('details').first().getByRole('row');
    await expect.poll(() => rows.count()).toBeGreaterThan(150);
    const events = page.getByRole('region', { name: 'Latest events' });
    await events.getByText('RAK V 9934').first().waitFor();
    await events.getByText('Expired').waitFor();
    await page.getByRole('region', { name: 'Vehicles' }).getByRole('row').nth(10).waitFor();
  });

  test('the whitelist page of the console shows the quota of an apartment, and how many times a vehicle with a pass has entered', async () => {
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${marina.id}` });
    await page.getByRole('textbox', { name: 'Plate number' }).fill('4711');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'DXB P 4711' }).getByText('2 / 4').waitFor();
    await page.getByRole('button', { name: /Search by/ }).click();
    await page.getByRole('option', { name: 'Reference' }).click();
    await page.getByRole('textbox', { name: 'Reference' }).fill('unit-0510');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page
      .getByRole('button', { name: /unit-0510/ })
      .first()
      .click();
    await page.getByRole('dialog').getByText('2 of 2 inside').waitFor();
  });

  test.each([
    ['SHJ 2 90018', 'unit-0510 may have 2 vehicles inside at a time'],
    ['DXB P 4711', 'After this entry, your pass has 1 entry left'],
    ['RAK V 9934', 'Your permit ended on'],
  ])('the console explains the gate decision about the plate %s', async (plate, sentence) => {
    const { page } = await openConsole(browser, url, { key, place: `why/${marina.id}` });
    await askWhy(page, plate);
    await page.getByRole('blockquote').filter({ hasText: sentence }).waitFor();
    await expectAccessible(page);
  });

  test('the console shows the webhook whose receiver fails, with its delivery attempts', async () => {
    const { page } = await openConsole(browser, url, { key, place: 'webhooks' });
    const row = page.getByRole('row').filter({ hasText: 'Failing since' });
    await row.getByRole('link').click();
    await expect.poll(() => page.getByRole('cell', { name: 'Failed', exact: true }).count()).toBe(2);
  });

  test('the console shows the requests of the demo API key, and shows the API keys and the audit log to an operator', async () => {
    const { page } = await openConsole(browser, url, { key, place: 'key' });
    await page.getByRole('img', { name: 'Requests of the last 24 hours' }).waitFor();
    const operator = await openConsole(browser, url, { key: operatorKey, place: 'keys' });
    await operator.page.getByRole('row').filter({ hasText: 'Residents portal' }).waitFor();
    await operator.goTo('audit');
    await operator.page.getByRole('cell', { name: 'whitelist.created' }).first().waitFor();
  });
});
