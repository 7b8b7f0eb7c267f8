import { gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { openActivity } from '../support/activity.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { expectAccessible, loseResponse, openConsole } from '../support/console.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const url = await serve(gateway);
const { prisma } = gateway.database;

const hourAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

/**
 * Creates a location with capacity 10, nine vehicles inside (one of them on the whitelist), and one vehicle that has
 * already left.
 */
async function newWorld() {
  const tenant = await gateway.newTenant();
  const { companyId, key } = tenant;
  const locationId = await gateway.newLocation(companyId, { capacity: 10 });
  await prisma.location.update({ where: { id: locationId }, data: { name: 'Harbour Garage' } });
  const activity = openActivity(gateway, key);
  await activity.list(locationId, 'DXB/A/7');
  const stays = Array.from({ length: 9 }, (_, index) => index);
  await activity.see(
    locationId,
    ...stays.map((index) => ({ kind: 'ENTRY' as const, plate: `DXB/A/${index + 7}`, at: hourAgo(5) })),
    { kind: 'ENTRY', plate: 'SHJ/1/900', at: hourAgo(3) },
    { kind: 'EXIT', plate: 'SHJ/1/900', at: hourAgo(2) },
  );
  return { ...tenant, ...activity, locationId };
}

test('the browser loads at most 200 KB for the first view of the console', async () => {
  const bodyOf = async (path: string) => {
    const headers = { 'Accept-Encoding': 'gzip', Accept: 'text/html,*/*', 'X-Forwarded-For': '192.0.2.77' };
    const response = await gateway.app.request(path, { headers });
    return Buffer.from(await response.arrayBuffer());
  };
  const text = (body: Buffer) => gunzipSync(body).toString();
  const page = await bodyOf('/console');
  const sizes = new Map([['/console', page.length]]);
  const unread = [...text(page).matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  for (let path = unread.pop(); path; path = unread.pop()) {
    if (sizes.has(path)) continue;
    const body = await bodyOf(path);
    sizes.set(path, body.length);
    // This pattern finds the static imports of a script, such as `from"./a.js"`, but not dynamic imports, such as
    // `import("./a.js")`.
    const imports = path.endsWith('.js') ? text(body).matchAll(/(?:from|import)"\.\/([^"]+)"/g) : [];
    for (const [, name] of imports) unread.push(`/assets/${name}`);
  }
  expect(sizes.size).toBeGreaterThan(3);
  expect([...sizes.values()].reduce((sum, size) => sum + size)).toBeLessThan(200_000);
});

describe.runIf(hasBrowser)('the console in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test('the console shows the status and the last 24 hours of each location, and a link opens their GraphQL query in the explorer', async () => {
    const { key, locationId, see } = await newWorld();
    const { page, complaints, foreignRequests } = await openConsole(browser, url, { key });
    const tile = page.getByRole('listitem').filter({ hasText: 'Harbour Garage' });
    await tile.getByText('Nearly full').waitFor();
    await tile.getByRole('meter', { name: '9 of 10' }).waitFor();
    await tile.getByRole('img', { name: 'Vehicles inside Harbour Garage in the last 24 hours' }).waitFor();
    await page.getByText('Live').waitFor();
    await see(locationId, { kind: 'ENTRY', plate: 'DXB/B/1', at: new Date() });
    await tile.getByText('Full', { exact: true }).waitFor();

    await page.getByLabel('Show plots as tables').check();
    await tile.getByRole('columnheader', { name: 'Inside' }).waitFor();
    const address = await page.getByRole('link', { name: 'as GraphQL' }).getAttribute('href');
    const parameters = new URL(address!, url).searchParams;
    expect(parameters.get('query')).toContain('query Sites');
    expect(JSON.parse(parameters.get('variables')!)).toEqual({ first: 20 });
    const { body } = await gateway.graph(parameters.get('query')!, {
      key,
      variables: JSON.parse(parameters.get('variables')!),
    });
    expect(body.errors).toBeUndefined();
    expect(complaints).toEqual([]);
    expect(foreignRequests).toEqual([]);
  });

  test('the console shows the history of a location, the vehicles inside, and the parking events', async () => {
    const { key, locationId } = await newWorld();
    const { page, complaints } = await openConsole(browser, url, { key, place: `sites/${locationId}` });
    await page.getByRole('heading', { name: 'Harbour Garage' }).waitFor();
    await page.getByRole('region', { name: 'Vehicles' }).getByText('DXB A 7').waitFor();
    await page.getByRole('region', { name: 'Latest events' }).getByText('SHJ 1 900').first().waitFor();
    await page.getByText('As a table').first().click();
    const rows = page.locator('details').first().getByRole('row');
    await expect.poll(() => rows.last().innerText()).toMatch(/\t9$/);
    await page.getByRole('radio', { name: 'Month' }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(700);
    await page.getByLabel('Only vehicles inside').uncheck();
    await page.getByRole('region', { name: 'Vehicles' }).getByText('Left', { exact: true }).last().waitFor();
    expect(complaints).toEqual([]);
  });

  test('the console explains why a plate may not enter, and shows that a plate on the whitelist may enter', async () => {
    const { key, locationId } = await newWorld();
    const { page } = await openConsole(browser, url, { key, place: `why/${locationId}` });
    await page.getByLabel('Text of the camera').fill('DXB A 99');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('heading', { name: 'May not enter' }).waitFor();
    await page.getByText('Your plate is not on the list').waitFor();
    await page.getByRole('region', { name: 'Checks' }).getByText('not passed').waitFor();
    await page.getByLabel('Text of the camera').fill('DXB A 7');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'May enter' }).waitFor();
  });

  test('a link from the console to the explorer has at most 6,000 characters, even if the user enters a very long plate text', async () => {
    const { key, locationId } = await newWorld();
    const { page } = await openConsole(browser, url, { key, place: `why/${locationId}` });
    const parametersOfLink = async () => {
      const address = (await page.getByRole('link', { name: 'as GraphQL' }).getAttribute('href'))!;
      expect(address.length).toBeLessThanOrEqual(6000);
      return new URL(address, url).searchParams;
    };
    await page.getByLabel('Text of the camera').fill('7'.repeat(20_000));
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    const long = await parametersOfLink();
    expect(long.get('query')).toContain('query Why');
    expect(long.has('variables')).toBe(false);
    await page.getByLabel('Text of the camera').fill('DXB A 7');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'May enter' }).waitFor();
    expect((await parametersOfLink()).get('variables')).toContain('DXB A 7');
  });

  test('the console can add, change and remove a vehicle, and shows each error beside its field', async () => {
    const { key, locationId } = await newWorld();
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add a vehicle' }).click();
    await dialog.getByLabel('Plate type').fill('dubai');
    await dialog.getByLabel('Plate code').fill('K');
    await dialog.getByLabel('Plate number').fill('4711');
    await dialog.getByLabel('Reference').fill('unit-12');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => dialog.getByLabel('Plate type').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Plate type').fill('DXB');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'DXB K 4711', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Change DXB K 4711' }).click();
    await prisma.whitelistEntry.updateMany({
      where: { locationId, plateNumber: '4711' },
      data: { referenceId: 'unit-13', version: 2 },
    });
    await dialog.getByLabel('Note').fill('blue');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('Another user changed this entry').waitFor();
    const stored = await prisma.whitelistEntry.findFirst({ where: { locationId, plateNumber: '4711' } });
    expect(stored).toMatchObject({ referenceId: 'unit-13', note: null });
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'Remove DXB K 4711' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await expect.poll(() => page.getByRole('cell', { name: 'DXB K 4711', exact: true }).count()).toBe(0);
  });

  test('a form of the console keeps the times that the user did not edit', async () => {
    const { key, locationId } = await newWorld();
    // On the day on which the clocks in Berlin go back, the local time 02:30 occurs twice. The whitelist entry becomes
    // valid when this local time occurs for the second time.
    const validity = { validFrom: '2026-10-25T01:30:15Z', validUntil: '2099-12-31T23:59:59Z' };
    const body = newEntry({ plateCode: 'Q', plateNumber: '6160', ...validity });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    const place = `whitelist/${locationId}`;
    const { page } = await openConsole(browser, url, { key, place, timezoneId: 'Europe/Berlin' });
    const dialog = page.getByRole('dialog');
    const save = async (label: string, value: string) => {
      await page.getByRole('button', { name: 'Change DXB Q 6160' }).click();
      await dialog.getByLabel(label).fill(value);
      await dialog.getByRole('button', { name: 'Save', exact: true }).click();
      await expect.poll(() => dialog.count()).toBe(0);
      return prisma.whitelistEntry.findFirst({ where: { locationId, plateNumber: '6160' } });
    };
    const validFrom = new Date(validity.validFrom);
    expect(await save('Note', 'blue')).toMatchObject({
      ...{ note: 'blue', validFrom, validUntil: new Date(validity.validUntil) },
    });
    expect(await save('Valid until', '2099-06-01T12:00')).toMatchObject({
      ...{ validFrom, validUntil: new Date('2099-06-01T10:00:00Z') },
    });
  });

  test('the console finds a whitelist entry by its plate, by its reference (such as an apartment) and by a text that a camera read; a search for valid entries hides expired entries', async () => {
    const { key, locationId } = await newWorld();
    const plate = { plateCode: 'Q', plateNumber: '5150' };
    const body = newEntry({ ...plate, referenceId: 'unit-77', validUntil: '2026-01-01T00:00:00Z' });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    const found = async (by: string, term: string, shown = 'DXB Q 5150') => {
      await page.getByRole('button', { name: /Search by/ }).click();
      await page.getByRole('option', { name: by }).click();
      await page.getByRole('textbox', { name: by }).fill(term);
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByRole('cell', { name: shown, exact: true }).waitFor();
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
    };
    await found('Plate number', '5150');
    await found('Reference', 'unit-77');
    await found('Text of a camera', 'Q 5150');
    await page.getByLabel('Only valid now').check();
    await page.getByText('No entry matches the search.').waitFor();
    await found('Text of a camera', 'DXB A 7', 'DXB A 7');
  });

  test('the console imports a file after a dry run, and offers the rejected rows and the whole whitelist as downloads', async () => {
    const { key, locationId } = await newWorld();
    const { page } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    await page.getByRole('button', { name: 'Import or export CSV' }).click();
    const file = [
      'referenceId,plateType,plateCode,plateNumber',
      'unit-1,DXB,C,1001',
      'unit-2,dubai,C,1002',
      'unit-3,DXB,C,1003',
    ].join('\n');
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'choose a file' }).click();
    await (await chooser).setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
    await page.getByText('2 new, 0 changed, 0 unchanged, 1 rejected').waitFor();
    expect(await prisma.whitelistEntry.count({ where: { locationId } })).toBe(1);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the rejected rows' }).click();
    expect((await download).suggestedFilename()).toBe('rejected.csv');
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('Imported.').waitFor();
    expect(await prisma.whitelistEntry.count({ where: { locationId } })).toBe(3);
    const exported = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export all entries' }).click();
    expect((await exported).suggestedFilename()).toBe('whitelist.csv');
  });

  test('the console shows the rate limits and the requests of the API key', async () => {
    const { key, locationId } = await newWorld();
    await gateway.rest('GET', `/locations/${locationId}/residents`, { key });
    const { page } = await openConsole(browser, url, { key, place: 'key' });
    await page.getByText(/of 100000 points left in an hour/).waitFor();
    await page.getByRole('img', { name: 'Requests of the last 24 hours' }).waitFor();
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        return page
          .getByRole('region', { name: 'Deprecated routes that the key uses' })
          .innerText({ timeout: 1000 });
      })
      .toContain('GET /locations/{locationId}/residents');
  });

  test('the console shows webhook deliveries, resends the deliveries of a period, and sends a test message; a failed request hides the success message of an earlier request', async () => {
    const { key, companyId } = await newWorld();
    const created = await gateway.graph(
      `mutation ($id: ID!) { createWebhook(input: { url: "http://127.0.0.1:9/hook", events: [WHITELIST_CREATED], companyId: $id }) { webhook { id } } }`,
      { key, variables: { id: companyId } },
    );
    expect(created.body.errors).toBeUndefined();
    const { page } = await openConsole(browser, url, { key, place: 'webhooks' });
    await page.getByRole('link', { name: 'http://127.0.0.1:9/hook' }).click();
    await page.getByRole('button', { name: 'Send a test message' }).click();
    const tested = page.getByText('The test message is on its way.');
    await tested.waitFor();
    await page.getByRole('cell', { name: 'webhook.test' }).waitFor();
    const uncertain = page.getByText('cannot tell whether the gateway has made the change');
    await loseResponse(page, 'TestWebhook');
    await page.getByRole('button', { name: 'Send a test message' }).click();
    await uncertain.waitFor();
    expect(await tested.count()).toBe(0);
    await page.getByRole('cell', { name: 'webhook.test' }).nth(1).waitFor();
    await page.getByLabel('Show bodies').check();
    await page.getByText('"type": "webhook.test"').first().waitFor();
    const dialog = page.getByRole('dialog');
    const recover = () => dialog.getByRole('button', { name: 'Recover a period' }).click();
    await page.getByRole('button', { name: 'Recover a period' }).click();
    await dialog.getByLabel('Since').fill('2026-01-01T00:00');
    await recover();
    const recovered = dialog.getByText(/is sent again|are sent again/);
    await recovered.waitFor();
    await loseResponse(page, 'RecoverWebhook');
    await recover();
    await dialog.getByText('cannot tell whether the gateway has made the change').waitFor();
    expect(await recovered.count()).toBe(0);
  });

  test('the console can issue, rotate and revoke an API key, and shows each secret once', async () => {
    const { key } = await newWorld();
    const { page } = await openConsole(browser, url, { key, place: 'keys' });
    const name = `Gate ${newId()}`;
    await page.getByRole('button', { name: 'Issue a key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('READ_STATUS').check();
    await dialog.getByLabel('Test Location').first().check();
    await dialog.getByRole('button', { name: 'Issue a key' }).click();
    await dialog.getByText(/^pms_/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: `Rotate ${name}` }).click();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByText(/^pms_/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row').filter({ hasText: name }).getByText('Revoked').waitFor();
  });

  test('the console says that it cannot copy a secret when the browser allows no access to the clipboard', async () => {
    const { key } = await newWorld();
    const { page, complaints } = await openConsole(browser, url, { key, place: 'keys' });
    // On an insecure origin, such as http://gateway.example, browsers define no `navigator.clipboard`.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await page
      .getByRole('button', { name: /^Rotate / })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByText(/^pms_/).waitFor();
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByRole('button', { name: 'Not copied: select the secret and copy it' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('the console keeps the expiry of an edited API key; if the user clears the expiry, the edited key gets the expiry of the signed-in API key', async () => {
    const { companyId } = await newWorld();
    const changeExpiry = async (own: Date | null) => {
      const key = await gateway.newKey({ companyIds: [companyId], ...(own && { expiresAt: own }) });
      const expiresAt = new Date('2098-03-01T10:20:30.400Z');
      await gateway.newKey({ companyIds: [companyId], expiresAt });
      const where = { companies: { some: { id: companyId } }, expiresAt };
      const { id } = await prisma.apiKey.findFirstOrThrow({ where });
      const name = `Gate ${id}`;
      await prisma.apiKey.update({ where: { id }, data: { name } });
      const { page } = await openConsole(browser, url, { key, place: 'keys' });
      const dialog = page.getByRole('dialog');
      const save = async (label: string, value: string) => {
        await page.getByRole('button', { name: `Change ${name}` }).click();
        await dialog.getByLabel(label).fill(value);
        await dialog.getByRole('button', { name: 'Save', exact: true }).click();
        await expect.poll(() => dialog.count()).toBe(0);
        return (await prisma.apiKey.findUniqueOrThrow({ where: { id } })).expiresAt;
      };
      expect(await save('Points in an hour', '500')).toEqual(expiresAt);
      expect(await save('Expires', '')).toEqual(own);
    };
    await changeExpiry(new Date('2099-01-01T00:00:00.700Z'));
    await changeExpiry(null);
  });

  test('in the audit log, the console shows the values before and after each change', async () => {
    const { key, locationId } = await newWorld();
    const { page, goTo } = await openConsole(browser, url, { key });
    await gateway.graph(
      `mutation ($id: ID!) { updateLocation(id: $id, input: { address: "Pier 9" }) { id } }`,
      { key, variables: { id: locationId } },
    );
    await goTo('audit');
    await page.getByRole('button', { name: `Changes location.updated ${locationId}` }).click();
    const row = page.getByRole('dialog').getByRole('row').filter({ hasText: 'address' });
    await row.getByRole('cell', { name: 'Pier 9' }).waitFor();
  });

  test.each(['light', 'dark'] as const)(
    'axe-core finds no accessibility violation in the console with the %s color scheme',
    async (colorScheme) => {
      const { key, locationId } = await newWorld();
      const opened = await openConsole(browser, url, { colorScheme });
      await opened.page.getByLabel('API key').waitFor();
      await expectAccessible(opened.page);
      const { page, goTo } = await openConsole(browser, url, { key, colorScheme });
      const places = ['sites', `sites/${locationId}`, `whitelist/${locationId}`, `why/${locationId}`, 'key'];
      for (const place of [...places, 'webhooks', 'keys', 'audit']) {
        await goTo(place);
        await expect.poll(() => page.locator('.loading').count()).toBe(0);
        await expectAccessible(page);
      }
      await goTo(`whitelist/${locationId}`);
      await page.getByRole('button', { name: 'Add a vehicle' }).click();
      await page.getByRole('dialog').waitFor();
      await expectAccessible(page);
    },
  );

  test('every page of the console fits a screen that is 360 px wide, even if the name and the address of a location contain long words', async () => {
    const { key, locationId, companyId, list } = await newWorld();
    const long = { name: 'Universitätskliniktiefgarage Nord', address: 'Fachkrankenhaus'.repeat(10) };
    await prisma.location.update({ where: { id: locationId }, data: long });
    const { page, goTo } = await openConsole(browser, url, { key, viewport: { width: 360, height: 780 } });
    const created = await gateway.graph(
      `mutation ($id: ID!) { createWebhook(input: { url: "http://127.0.0.1:9/${'long/'.repeat(30)}", events: [WHITELIST_CREATED], companyId: $id }) { webhook { id } } }`,
      { key, variables: { id: companyId } },
    );
    const webhookId = created.body.data.createWebhook.webhook.id;
    const expectToFit = async (place: string) => {
      await expect.poll(() => page.locator('.loading').count()).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), place).toBeLessThanOrEqual(360);
    };
    const places = ['sites', `sites/${locationId}`, `whitelist/${locationId}`, `why/${locationId}`, 'key'];
    for (const place of [...places, 'keys', 'audit', 'webhooks', `webhooks/${webhookId}`]) {
      await goTo(place);
      await expectToFit(place);
    }
    await page.getByRole('button', { name: 'Send a test message' }).click();
    await page.getByRole('cell', { name: 'webhook.test' }).waitFor();
    await page.getByLabel('Show bodies').check();
    await page.getByText('"type": "webhook.test"').waitFor();
    await expectToFit('the body of a delivery');
    await goTo(`why/${locationId}`);
    await list(locationId, 'DXB/B/5150');
    await page.getByLabel('Text of the camera').fill('DXB 8 5150');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('region', { name: 'Near misses' }).waitFor();
    await expectToFit('a decision');
  });

  test('a user can operate the console with the keyboard alone', async () => {
    const { key } = await newWorld();
    const { page } = await openConsole(browser, url);
    await page.getByLabel('API key').waitFor();
    expect(await page.title()).toBe('Console · Parking gateway');
    await page.keyboard.type(key);
    const skipLink = page.getByRole('link', { name: 'Skip to the content' });
    const isContentFocused = () => page.evaluate(() => document.activeElement?.id === 'content');
    await skipLink.press('Enter');
    expect(await isContentFocused()).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    expect(await page.title()).toBe('Sites · Parking gateway');
    await page.getByText('Harbour Garage').first().waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    for (let presses = 0; presses < 40 && !(await focused()).startsWith('Harbour Garage'); presses += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Harbour Garage', level: 1 }).waitFor();
    const address = page.url();
    await skipLink.press('Enter');
    expect(await isContentFocused()).toBe(true);
    expect(page.url()).toBe(address);
    expect(await page.title()).toBe('Harbour Garage · Parking gateway');
    await page.keyboard.press('Tab');
    await expect.poll(focused).toBe('← All sites');
  });
});
