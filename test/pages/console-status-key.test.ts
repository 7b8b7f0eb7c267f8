import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { newSlug, openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway();
const url = await serve(gateway);

describe.runIf(hasBrowser)('the views of sites in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test.each([[['READ_STATUS']], [['READ_LOCATIONS']], [['READ_LOCATIONS', 'READ_STATUS']]] as const)(
    'with an API key that has the permissions %s, the console shows all pages of the list of locations',
    async (permissions) => {
      const companyId = await gateway.newCompany();
      const numbers = Array.from({ length: 45 }, (_, index) => index + 1);
      await gateway.database.prisma.location.createMany({
        data: numbers.map((number) => ({ id: newId(), companyId, name: `Site ${number}`, slug: newSlug() })),
      });
      const key = await gateway.newKey({ companyIds: [companyId], permissions: [...permissions] });
      const { page, complaints } = await openConsole(browser, url, { key });
      const names = () => page.getByRole('listitem').getByRole('heading').allInnerTexts();
      const expectPage = async (first: number, last: number) => {
        const expected = numbers.slice(first - 1, last).map((number) => `Site ${number}`);
        await expect.poll(names).toEqual(expected);
      };
      const next = page.getByRole('button', { name: 'Next' });
      await expectPage(1, 20);
      await next.click();
      await expectPage(21, 40);
      if (permissions.some((permission) => permission === 'READ_STATUS')) {
        await page.getByText('Live', { exact: true }).waitFor();
      }
      await next.click();
      await expectPage(41, 45);
      await expect.poll(() => next.isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Previous' }).click();
      await expectPage(21, 40);
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(complaints).toEqual([]);
    },
  );

  test('with an API key without the permission READ_STATUS, the view of a location reads its events every minute and its charts every 15 minutes', async () => {
    const { companyId, locationId } = await gateway.newTenant();
    const permissions = ['READ_LOCATIONS', 'READ_ACTIVITY'] as const;
    const key = await gateway.newKey({ companyIds: [companyId], permissions: [...permissions] });
    const { page, operations, goTo } = await openConsole(browser, url, { key, place: 'key' });
    await page.clock.install();
    await goTo(`sites/${locationId}`);
    const reads = (operation: string) => operations.filter((name) => name === operation).length;
    await page.getByText('As a table').first().waitFor();
    await expect.poll(() => reads('LocationActivity')).toBe(1);
    await page.clock.fastForward(60_000);
    await expect.poll(() => reads('LocationActivity')).toBeGreaterThan(1);
    expect(reads('LocationHistory')).toBe(1);
    const start = await page.evaluate(() => new Date().toISOString());
    const [refresh] = await Promise.all([
      page.waitForRequest((request) => /query LocationHistory/.test(request.postData() ?? '')),
      page.clock.fastForward(15 * 60_000),
    ]);
    expect(refresh.postDataJSON().variables.to > start).toBe(true);
  });
});
