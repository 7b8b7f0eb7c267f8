import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { holdRequest, openConsole, pressEscapeInDialog } from '../support/console.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);
const { prisma } = gateway.database;

describe.runIf(hasBrowser)('the export of a whitelist by the console', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  /**
   * Exports a whitelist with two requests, changes the whitelist between these requests, and returns the rows of the
   * exported file.
   */
  async function exportDuring(change: (whitelist: { key: string; locationId: string }) => Promise<unknown>) {
    const { key, locationId } = await gateway.newTenant();
    const body = newEntry({ referenceId: 'first', plateCode: 'E', plateNumber: '0' });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    await prisma.whitelistEntry.createMany({
      data: Array.from({ length: 5000 }, (_, index) => ({
        ...newEntry({ plateCode: 'E', plateNumber: String(index + 1) }),
        id: newId(),
        locationId,
      })),
    });
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    await page.getByRole('button', { name: 'Import or export CSV' }).click();
    let requests = 0;
    await page.route('**/graphql', async (route) => {
      const isExport = route.request().postData()?.includes(' ExportEntries(');
      if (isExport && ++requests === 2) await change({ key, locationId });
      return route.fallback();
    });
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export all entries' }).click();
    const file = await readFile(await (await downloading).path(), 'utf8');
    return file.trim().split('\n').slice(1);
  }

  test('when a client deletes a whitelist entry and adds its plate again during an export, the exported file contains this plate only once', async () => {
    const rows = await exportDuring(async ({ key, locationId }) => {
      const { id } = await prisma.whitelistEntry.findFirstOrThrow({
        where: { locationId, plateNumber: '0' },
      });
      await gateway.rest('DELETE', `/locations/${locationId}/whitelist/${id}`, { key });
      const body = newEntry({ referenceId: 'second', plateCode: 'E', plateNumber: '0' });
      await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    });
    expect(rows).toHaveLength(5001);
    expect(rows.filter((row) => row.includes(',E,0,'))).toEqual([expect.stringContaining('second,')]);
  });

  test('when the database is restored during an export, the exported file contains only the entries of the restored database', async () => {
    const rows = await exportDuring(async ({ locationId }) => {
      await prisma.whitelistEntry.deleteMany({ where: { locationId, plateNumber: '0' } });
      await prisma.auditRecord.deleteMany({ where: { locationId } });
    });
    expect(rows).toHaveLength(5000);
  });

  test('an export ends without a file when the user closes the dialog', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    let downloads = 0;
    page.on('download', () => (downloads += 1));
    await page.getByRole('button', { name: 'Import or export CSV' }).click();
    const entries = await holdRequest(page, 'ExportEntries');
    await page.getByRole('button', { name: 'Export all entries' }).click();
    await entries.held;
    await pressEscapeInDialog(page);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await entries.release();
    expect(downloads).toBe(0);

    await page.getByRole('button', { name: 'Import or export CSV' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export all entries' }).click();
    await downloading;
    expect(downloads).toBe(1);
  });
});
