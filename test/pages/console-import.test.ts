import type { Browser, Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import {
  chooseFile,
  drawFrames,
  handleRequest,
  holdRequest,
  openConsole,
  openImport,
  pressEscapeInDialog,
  tryToDismiss,
} from '../support/console.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);
const { prisma } = gateway.database;

const listedRow = 'unit-1,DXB,C,1';
const rejectedText = '0 new, 0 changed, 0 unchanged, 1 rejected';
const changedText = '0 new, 1 changed, 0 unchanged, 0 rejected';

/**
 * Opens the whitelist page of a new location. The whitelist of this location contains the plate of the CSV row
 * `listedRow`.
 */
async function openWhitelist(browser: Browser) {
  const { key, locationId } = await gateway.newTenant();
  const body = newEntry({ plateCode: 'C', plateNumber: '1' });
  await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
  const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
  return { page, locationId };
}

async function chooseUpdate(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Rows already on the whitelist/ }).click();
  await page.getByRole('option', { name: 'Update' }).click();
}

describe.runIf(hasBrowser)('the import dialog of the console', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test('when the user selects another import mode before a dry run ends, the import dialog ignores the result of the dry run', async () => {
    const { page } = await openWhitelist(browser);
    const dryRun = await holdRequest(page, 'ImportEntries', { mode: 'CREATE' });
    await openImport(page, [listedRow]);
    await dryRun.held;
    await chooseUpdate(page);
    await page.getByText(changedText).waitFor();
    await dryRun.release();
    expect(await page.getByText(rejectedText).count()).toBe(0);
    expect(await page.getByText(changedText).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Import 1 row' }).count()).toBe(1);
  });

  test('after the user has selected another import mode, the import dialog ignores the failure of an earlier dry run', async () => {
    const { page } = await openWhitelist(browser);
    const dryRun = await holdRequest(page, 'ImportEntries', { mode: 'CREATE' });
    await openImport(page, [listedRow]);
    await dryRun.held;
    await chooseUpdate(page);
    await page.getByText(changedText).waitFor();
    await page.context().setOffline(true);
    await dryRun.release();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('when the user chooses another file before a dry run ends, the import dialog ignores the result of the dry run', async () => {
    const { page } = await openWhitelist(browser);
    const dryRun = await holdRequest(page, 'ImportEntries');
    await openImport(page, [listedRow]);
    await dryRun.held;
    await chooseFile(page, ['unit-2,DXB,C,2', 'unit-3,DXB,C,3']);
    await page.getByRole('button', { name: 'Import 2 rows' }).waitFor();
    await dryRun.release();
    expect(await page.getByText(rejectedText).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Import 2 rows' }).count()).toBe(1);
  });

  test('the import dialog does not import a file without valid rows, and removes the dry run result of this file when the user chooses an invalid file', async () => {
    const { page } = await openWhitelist(browser);
    await openImport(page, [listedRow]);
    await page.getByText(rejectedText).waitFor();
    expect(await page.getByRole('button', { name: 'Import 0 rows' }).isDisabled()).toBe(true);
    await chooseFile(page, ['unit-2,DXB,C,2,8'], ',hours');
    await page.getByText('unknown column hours').waitFor();
    expect(await page.getByText(rejectedText).count()).toBe(0);
  });

  test('when the user selects another import mode while the browser reads a file, the import dialog checks the file in the new mode', async () => {
    const { page } = await openWhitelist(browser);
    await page.evaluate(() => {
      const read = Blob.prototype.text;
      Blob.prototype.text = async function () {
        await new Promise((resolve) => addEventListener('finish-reading', resolve, { once: true }));
        return read.call(this);
      };
    });
    await openImport(page, [listedRow]);
    await chooseUpdate(page);
    await drawFrames(page);
    await page.evaluate(() => dispatchEvent(new Event('finish-reading')));
    await page.getByText(changedText).waitFor();
    expect(await page.getByText(rejectedText).count()).toBe(0);
  });

  test('in a long file, the import dialog rejects a repeated plate and a malformed time, and imports all other rows', async () => {
    const { page, locationId } = await openWhitelist(browser);
    await page.getByRole('button', { name: 'Import or export CSV' }).click();
    await chooseUpdate(page);
    const lines = Array.from({ length: 1000 }, (_, index) => `unit-${index},DXB,D,${index},`);
    lines[1] = 'unit-1,DXB,D,1,31/12/2026';
    await chooseFile(page, [...lines, 'unit-again,DXB,D,0,'], ',validFrom');
    await page.getByText('999 new, 0 changed, 0 unchanged, 2 rejected').waitFor();
    const rejects = page.getByRole('region', { name: 'Rejected rows' }).getByRole('row');
    expect(await rejects.allInnerTexts()).toEqual([
      expect.anything(),
      expect.stringMatching(/^2\s+validFrom\s+31\/12\/2026\s+Must be an ISO 8601 date/),
      expect.stringMatching(/^1001\s+Row 1 has the same plate$/),
    ]);
    await page.getByRole('button', { name: 'Import 999 rows' }).click();
    await page.getByText('Imported.').waitFor();
    const where = { locationId, plateCode: 'D' };
    expect(await prisma.whitelistEntry.count({ where })).toBe(999);
    expect(await prisma.whitelistEntry.count({ where: { ...where, referenceId: 'unit-again' } })).toBe(0);
  });

  test('when the gateway rejects a row, the import dialog imports the next valid row with the same plate', async () => {
    const { page, locationId } = await openWhitelist(browser);
    await page.getByRole('button', { name: 'Import or export CSV' }).click();
    await chooseUpdate(page);
    const lines = Array.from({ length: 1000 }, (_, index) => `unit-${index},DXB,D,${index},,`);
    lines[0] = 'unit-0,DXB,D,1,2026-02-01T00:00Z,2026-01-01T00:00Z';
    lines[2] = 'unit-2,DXB,D,1,,';
    lines[3] = 'unit-3,DXB,D,4000,2026-02-01T00:00Z,2026-01-01T00:00Z';
    await chooseFile(
      page,
      [...lines, 'unit-4000,DXB,D,4000,,', 'unit-again,DXB,D,1,,'],
      ',validFrom,validUntil',
    );
    await page.getByText('998 new, 0 changed, 0 unchanged, 4 rejected').waitFor();
    const rejects = page.getByRole('region', { name: 'Rejected rows' }).getByRole('row');
    expect(await rejects.allInnerTexts()).toEqual([
      expect.anything(),
      expect.stringMatching(/^1\s+validUntil\s.*Must be after validFrom$/s),
      expect.stringMatching(/^3\s+Row 2 has the same plate$/),
      expect.stringMatching(/^4\s+validUntil\s.*Must be after validFrom$/s),
      expect.stringMatching(/^1002\s+Row 2 has the same plate$/),
    ]);
    await page.getByRole('button', { name: 'Import 998 rows' }).click();
    await page.getByText('Imported.').waitFor();
    const entries = await prisma.whitelistEntry.findMany({
      where: { locationId, plateCode: 'D', plateNumber: { in: ['1', '4000'] } },
      orderBy: { plateNumber: 'asc' },
    });
    expect(entries.map(({ referenceId }) => referenceId)).toEqual(['unit-1', 'unit-4000']);
  });

  test('when all rows together are too large for one request, the import dialog sends them in several requests', async () => {
    const { page, locationId } = await openWhitelist(browser);
    const note = 'م'.repeat(30_000);
    const lines = Array.from({ length: 300 }, (_, index) => `unit-${index},DXB,D,${index},${note}`);
    await page.getByRole('button', { name: 'Import or export CSV' }).click();
    await chooseFile(page, [...lines, 'unit-300,DXB,D,300,short'], ',note');
    await page.getByText('1 new, 0 changed, 0 unchanged, 300 rejected').waitFor();
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('Imported.').waitFor();
    expect(await prisma.whitelistEntry.count({ where: { locationId, plateCode: 'D' } })).toBe(1);
  });

  /**
   * Starts an import of one row in the import dialog. The function `answer` handles the import request that the page
   * sends. The import then stops.
   */
  async function stopImport(page: Page, answer: (route: Route) => Promise<void>): Promise<void> {
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    await handleRequest(page, 'ImportEntries', { dryRun: false }, answer);
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await page.getByText('The import stopped after 0 of 1 row.').waitFor();
  }

  /**
   * Lets the gateway execute a request of the page, but closes the page's connection before the page receives the
   * response.
   */
  async function loseResponse(route: Route): Promise<void> {
    await route.fetch();
    await route.abort();
  }

  const doubt = 'The console cannot tell whether the gateway has imported row 1.';

  test('when the response to an import is lost, the import dialog says that the gateway may have imported the rows', async () => {
    const { page, locationId } = await openWhitelist(browser);
    await openImport(page, ['unit-2,DXB,C,2']);
    await stopImport(page, loseResponse);
    expect(await prisma.whitelistEntry.count({ where: { locationId } })).toBe(2);
    await page.getByText(doubt).waitFor();
    await page.getByRole('button', { name: 'Import the other 1 row' }).click();
    await page.getByText('Imported.').waitFor();
    await page.getByText(rejectedText).waitFor();
    expect(await page.getByText(doubt).count()).toBe(0);
  });

  test('when the response to an import with the option Update is lost, the import dialog sends the rows again and shows no warning', async () => {
    const { page } = await openWhitelist(browser);
    await openImport(page, ['unit-2,DXB,C,2']);
    await chooseUpdate(page);
    await stopImport(page, loseResponse);
    expect(await page.getByText(doubt).count()).toBe(0);
    await page.getByRole('button', { name: 'Import the other 1 row' }).click();
    await page.getByText('0 new, 0 changed, 1 unchanged, 0 rejected').waitFor();
  });

  test('when the rate limit stops an import, the import dialog does not say that the gateway may have imported the rows', async () => {
    const { page } = await openWhitelist(browser);
    await openImport(page, ['unit-2,DXB,C,2']);
    await stopImport(page, (route) => route.fulfill({ status: 429, body: 'slow down' }));
    expect(await page.getByText(doubt).count()).toBe(0);
  });

  test('during an import and after a stopped import, the Escape key and a click outside do not close the import dialog', async () => {
    const { page, locationId } = await openWhitelist(browser);
    const dialog = page.getByRole('dialog');
    await openImport(page, ['unit-2,DXB,C,2']);
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    const importing = await holdRequest(page, 'ImportEntries', { dryRun: false });
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await importing.held;
    await tryToDismiss(page);
    expect(await dialog.count()).toBe(1);
    await page.context().setOffline(true);
    await importing.release();
    await page.getByText('The import stopped after 0 of 1 row.').waitFor();
    await page.context().setOffline(false);
    await tryToDismiss(page);
    expect(await dialog.count()).toBe(1);
    await page.getByRole('button', { name: 'Import the other 1 row' }).click();
    await page.getByText('Imported.').waitFor();
    expect(await prisma.whitelistEntry.count({ where: { locationId } })).toBe(2);
    await pressEscapeInDialog(page);
    await expect.poll(() => dialog.count()).toBe(0);

    await openImport(page, ['unit-3,DXB,C,3']);
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();
    const second = await holdRequest(page, 'ImportEntries', { dryRun: false });
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await second.held;
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => dialog.count()).toBe(0);
    await second.release();
    await page.getByRole('cell', { name: 'DXB C 3', exact: true }).waitFor();
  });
});
