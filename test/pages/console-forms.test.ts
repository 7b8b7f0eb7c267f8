import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { holdRequest, openConsole } from '../support/console.ts';
import { newEntry, sharedTestGateway, serve } from '../support/harness.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);
const { prisma } = gateway.database;

/** Creates a location with one whitelist entry, and with a quota for the reference of this entry. */
async function newQuota() {
  const { key, locationId } = await gateway.newTenant();
  const body = newEntry({ referenceId: 'unit-12', plateCode: 'K', plateNumber: '4711' });
  await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
  const setQuota = async (inside: number, enforcement: 'HARD' | 'REPORT') => {
    const mutation = `mutation ($locationId: ID!, $inside: Int, $enforcement: QuotaEnforcement!) {
      setQuota(locationId: $locationId, referenceId: "unit-12", inside: $inside, enforcement: $enforcement) { inside }
    }`;
    const { body } = await gateway.graph(mutation, { key, variables: { locationId, inside, enforcement } });
    expect(body.errors).toBeUndefined();
  };
  const stored = () => prisma.quota.findFirst({ where: { locationId, referenceId: 'unit-12' } });
  return { key, locationId, setQuota, stored };
}

describe.runIf(hasBrowser)('the edit forms of the console', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test('the user can save the quota form only after the form has received the stored quota', async () => {
    const { key, locationId, setQuota, stored } = await newQuota();
    await setQuota(3, 'REPORT');
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const dialog = page.getByRole('dialog');
    const quota = await holdRequest(page, 'QuotaOf');
    await page.getByRole('button', { name: /^Quota of the reference/ }).click();
    await quota.held;
    await dialog.getByText('Loading…').waitFor();
    const save = dialog.getByRole('button', { name: 'Set the quota', disabled: false });
    expect(await save.count()).toBe(0);
    await quota.release();
    await dialog.getByLabel('Vehicles inside at most').fill('4');
    await save.click();
    await dialog.getByText('0 of 4 inside').waitFor();
    expect(await stored()).toMatchObject({ inside: 4, enforcement: 'REPORT' });
  });

  test('after a rate limit error, a form of the console says when the user can send the form again', async () => {
    const { key, locationId } = await newQuota();
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: /^Quota of the reference/ }).click();
    await dialog.getByLabel('Vehicles inside at most').fill('4');
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('mutation SetQuota')
        ? route.fulfill({
            status: 429,
            headers: { 'Retry-After': '1', 'Content-Type': 'application/json' },
            body: JSON.stringify({
              data: null,
              errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATE_LIMIT_EXCEEDED' } }],
            }),
          })
        : route.continue(),
    );
    await dialog.getByRole('button', { name: 'Set the quota', disabled: false }).click();
    await dialog.getByText('Rate limit reached; you can try again now').waitFor();
  });

  test('the quota form hides the save button when the gateway cannot return the stored quota', async () => {
    const { key, locationId, setQuota } = await newQuota();
    await setQuota(3, 'REPORT');
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const dialog = page.getByRole('dialog');
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('query QuotaOf')
        ? route.fulfill({
            json: {
              data: { quotas: null },
              errors: [
                { message: 'Internal error', path: ['quotas'], extensions: { code: 'INTERNAL_ERROR' } },
              ],
            },
          })
        : route.fallback(),
    );
    await page.getByRole('button', { name: /^Quota of the reference/ }).click();
    await dialog.getByText('Internal error').waitFor();
    expect(await dialog.getByRole('button', { name: 'Set the quota' }).count()).toBe(0);
    expect(await dialog.getByText('No quota').count()).toBe(0);
  });

  test('when two users change different fields of a quota, the quota form keeps both changes', async () => {
    const { key, locationId, setQuota, stored } = await newQuota();
    await setQuota(3, 'HARD');
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: /^Quota of the reference/ }).click();
    await dialog.getByText('0 of 3 inside').waitFor();
    await setQuota(5, 'HARD');
    await dialog.getByRole('button', { name: /When the quota is reached/ }).click();
    await page.getByRole('option', { name: 'Admit and report' }).click();
    await dialog.getByRole('button', { name: 'Set the quota' }).click();
    await dialog.getByText('0 of 5 inside').waitFor();
    await expect.poll(stored).toMatchObject({ inside: 5, enforcement: 'REPORT' });

    await setQuota(5, 'HARD');
    await dialog.getByLabel('Vehicles inside at most').fill('6');
    await dialog.getByRole('button', { name: 'Set the quota' }).click();
    await dialog.getByText('0 of 6 inside').waitFor();
    expect(await stored()).toMatchObject({ inside: 6, enforcement: 'HARD' });
  });

  test('when the quota form cannot read the stored quota again, it keeps the fields that the user has edited', async () => {
    const { key, locationId, setQuota, stored } = await newQuota();
    await setQuota(3, 'REPORT');
    const place = `whitelist/${locationId}`;
    const { page, operations } = await openConsole(browser, url, { key, place });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: /^Quota of the reference/ }).click();
    await dialog.getByLabel('Vehicles inside at most').fill('4');
    await page.context().setOffline(true);
    await dialog.getByRole('button', { name: 'Set the quota' }).click();
    await dialog.getByText('The gateway is unreachable').waitFor();
    expect(operations).not.toContain('SetQuota');
    await page.context().setOffline(false);
    await expect.poll(() => dialog.getByText('The gateway is unreachable').count()).toBe(0);
    expect(await dialog.getByLabel('Vehicles inside at most').inputValue()).toBe('4');
    await dialog.getByRole('button', { name: 'Set the quota' }).click();
    await dialog.getByText('0 of 4 inside').waitFor();
    expect(await stored()).toMatchObject({ inside: 4, enforcement: 'REPORT' });
  });

  test('the form of an API key sends only the fields that the user changed, and the user cannot save the form while a rate limit is empty', async () => {
    const { key, companyId } = await gateway.newTenant();
    await gateway.newKey({ companyIds: [companyId], permissions: ['READ_STATUS'], hourlyLimit: 900 });
    const where = { companies: { some: { id: companyId } }, hourlyLimit: 900 };
    const { id } = await prisma.apiKey.findFirstOrThrow({ where });
    const name = `Gate ${newId()}`;
    await prisma.apiKey.update({ where: { id }, data: { name, burstLimit: 100 } });
    const { page, operations } = await openConsole(browser, url, { key, place: 'keys' });
    const dialog = page.getByRole('dialog');
    const save = async () => {
      await dialog.getByRole('button', { name: 'Save', exact: true }).click();
      await expect.poll(() => dialog.count()).toBe(0);
      return prisma.apiKey.findUniqueOrThrow({ where: { id } });
    };
    await page.getByRole('button', { name: `Change ${name}` }).click();
    expect(await save()).toMatchObject({ name, hourlyLimit: 900 });
    expect(operations).not.toContain('ChangeKey');

    await page.getByRole('button', { name: `Change ${name}` }).click();
    const saveButton = dialog.getByRole('button', { name: 'Save', exact: true });
    for (const [label, value] of [
      ['Points in a minute', '100'],
      ['Points in an hour', '800'],
    ] as const) {
      await dialog.getByLabel(label).fill('');
      await dialog.getByText('Enter a number of points').waitFor();
      expect(await saveButton.isDisabled()).toBe(true);
      await dialog.getByLabel(label).fill(value);
      await expect.poll(() => saveButton.isDisabled()).toBe(false);
    }
    const expiresAt = new Date('2098-03-01T10:20:30.400Z');
    const byOther = { name: `${name} north`, burstLimit: 50, expiresAt };
    await prisma.apiKey.update({ where: { id }, data: { ...byOther, permissions: ['READ_WHITELIST'] } });
    const changed = { ...byOther, permissions: ['READ_WHITELIST'], hourlyLimit: 800 };
    expect(await save()).toMatchObject(changed);

    await page.getByRole('button', { name: `Change ${name} north` }).click();
    await dialog.getByLabel('READ_STATUS').check();
    await prisma.apiKey.update({ where: { id }, data: { hourlyLimit: 700 } });
    const permissions = ['READ_WHITELIST', 'READ_STATUS'];
    expect(await save()).toMatchObject({ ...changed, permissions, hourlyLimit: 700 });
  });

  test('when another user has changed a whitelist entry, the user of the console can overwrite this change, even if the entry no longer matches the search', async () => {
    const { key, locationId } = await newQuota();
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: /Search by/ }).click();
    await page.getByRole('option', { name: 'Reference' }).click();
    await page.getByRole('textbox', { name: 'Reference' }).fill('unit-12');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('button', { name: 'Change DXB K 4711' }).click();
    const where = { locationId, plateNumber: '4711' };
    await prisma.whitelistEntry.updateMany({ where, data: { referenceId: 'unit-13', version: 2 } });
    await dialog.getByLabel('Note').fill('blue');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('Another user changed this entry').waitFor();
    await page.getByText('No entry matches the search.').waitFor();
    await dialog.getByRole('button', { name: 'Save over the new version' }).click();
    await expect.poll(() => dialog.count()).toBe(0);
    const stored = await prisma.whitelistEntry.findFirst({ where });
    expect(stored).toMatchObject({ referenceId: 'unit-12', note: 'blue', version: 3 });
  });

  test('a double click on "Next" moves the whitelist forward by only one page', async () => {
    const { key, locationId } = await gateway.newTenant();
    await prisma.whitelistEntry.createMany({
      data: Array.from({ length: 60 }, (_, index) => ({
        ...newEntry({ plateNumber: String(index) }),
        ...{ id: newId(), locationId },
      })),
    });
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const cell = (index: number) => page.getByRole('cell', { name: `DXB A ${index}`, exact: true });
    await cell(0).waitFor();
    const nextPage = await holdRequest(page, 'Whitelist');
    await page.getByRole('button', { name: 'Next' }).dblclick();
    await nextPage.held;
    await nextPage.release();
    await cell(25).waitFor();
    await page.getByRole('button', { name: 'Previous' }).click();
    await cell(0).waitFor();
    expect(await page.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true);
  });

  test('when a user removes the only entry on the last page, the console shows the previous page of the whitelist; when the user opens another location, the console shows the first page', async () => {
    const { key, companyId, locationId } = await gateway.newTenant();
    const otherId = await gateway.newLocation(companyId);
    await prisma.whitelistEntry.createMany({
      data: Array.from({ length: 56 }, (_, index) => ({
        ...newEntry({ plateNumber: String(index) }),
        ...{ id: newId(), locationId: index < 51 ? locationId : otherId },
      })),
    });
    const { page, goTo } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const cell = (index: number) => page.getByRole('cell', { name: `DXB A ${index}`, exact: true });
    for (const index of [25, 50]) {
      await page.getByRole('button', { name: 'Next', disabled: false }).click();
      await cell(index).waitFor();
    }
    await page.getByRole('button', { name: 'Remove DXB A 50' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await cell(25).waitFor();
    expect(await page.getByText('No entry matches the search.').count()).toBe(0);
    await page.getByRole('button', { name: 'Add a vehicle' }).click();
    await page.getByRole('dialog').waitFor();

    const entries = await holdRequest(page, 'Whitelist', { locationId: otherId });
    await goTo(`whitelist/${otherId}`);
    await entries.held;
    await expect.poll(() => cell(25).count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await entries.release();
    await expect.poll(() => page.getByRole('row').count()).toBe(6);
    expect(
      await page.getByRole('navigation', { name: 'Pages' }).filter({ hasText: 'Previous' }).count(),
    ).toBe(0);
  });
});
