import type { Browser } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { timeText } from '../../pages/console/ui/time.tsx';
import { hourlyTraffic } from '../../pages/console/views/hourly-traffic.ts';
import { type HistoryInterval, historyBounds } from '../../src/parking/history-points.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const url = await serve(gateway);
const { prisma } = gateway.database;

describe('the text of a time in the console', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    ['Asia/Dubai', '2026-12-31T19:59:00Z', '31 Dec, 23:59'],
    ['Asia/Dubai', '2026-12-31T20:00:00Z', '1 Jan 2027, 00:00'],
    ['Asia/Dubai', '2025-12-31T19:59:00Z', '31 Dec 2025, 23:59'],
    ['Asia/Dubai', '2025-12-31T20:00:00Z', '1 Jan, 00:00'],
    ['UTC', '2025-12-31T20:00:00Z', '31 Dec 2025, 20:00'],
  ])(
    'the console shows the year of a time only if the time is not in the current year (time zone %s, time %s)',
    (zone, at, text) => {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-06-01T00:00:00Z') });
      expect(timeText(at, zone)).toBe(text);
    },
  );

  test('the console can show only the date or only the time of day, and shows the year of a date if it is not the current year', () => {
    const at = '2024-03-05T10:00:00Z';
    expect(timeText(at, 'UTC', 'date')).toBe('5 Mar 2024');
    expect(timeText(at, 'UTC', 'time')).toBe('10:00');
  });
});

test.each([
  ['Asia/Kolkata', '2026-06-01T10:40:00Z', ['10:30', '11:30', '12:30']],
  ['Asia/Kathmandu', '2026-06-01T10:40:00Z', ['10:15', '11:15', '12:15']],
  ['Asia/Dubai', '2026-06-01T10:40:00Z', ['10:00', '11:00', '12:00']],
  // On Lord Howe Island, the clocks go back by half an hour at 15:00 UTC, and the hour from 14:00 UTC has 90 minutes.
  ['Australia/Lord_Howe', '2026-04-04T14:10:00Z', ['14:00', '15:30']],
])(
  'the console adds up the vehicles of a location for the hours of the time zone %s, as the gateway does',
  (zone, from, starts) => {
    const date = from.slice(0, 10);
    const to = new Date(Date.parse(from) + 2 * 3_600_000);
    const traffic = (interval: HistoryInterval) => {
      const bounds = historyBounds(new Date(from), to, interval, zone).slice(0, -1);
      return hourlyTraffic(
        bounds.map((at) => ({ at: at.toISOString(), entries: 1, exits: 2 })),
        zone,
      );
    };
    const expected = starts.map((start) => Date.parse(`${date}T${start}:00Z`));
    expect(traffic('HOUR')).toEqual(expected.map((at) => ({ at, entries: 1, exits: 2 })));
    const quarters = traffic('QUARTER_HOUR');
    expect(quarters.map(({ at }) => at)).toEqual(expected);
    expect(quarters[0]!.exits).toBe(2 * quarters[0]!.entries);
  },
);

describe.runIf(hasBrowser)('the times of the console in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test('the console shows the year of a time that is not in the current year', async () => {
    const { key, companyId } = await gateway.newTenant();
    await gateway.newKey({ companyIds: [companyId] });
    const { id } = await prisma.apiKey.findFirstOrThrow({
      where: { companies: { some: { id: companyId } } },
      orderBy: { id: 'desc' },
    });
    await prisma.apiKey.update({
      where: { id },
      data: { name: 'Old key', lastUsedAt: new Date('2024-03-05T10:00:00Z') },
    });
    const { page } = await openConsole(browser, url, { key, place: 'keys', timezoneId: 'Europe/Berlin' });
    await page.getByRole('row').filter({ hasText: 'Old key' }).getByText('5 Mar 2024, 11:00').waitFor();
  });

  test('the form for resending the webhook messages of a period shows the time zone of its two time fields', async () => {
    const { key, companyId } = await gateway.newTenant();
    const { body } = await gateway.graph(
      `mutation ($id: ID!) { createWebhook(input: { url: "http://127.0.0.1:9/hook", events: [WHITELIST_CREATED], companyId: $id }) { webhook { id } } }`,
      { key, variables: { id: companyId } },
    );
    const place = `webhooks/${body.data.createWebhook.webhook.id}`;
    const { page } = await openConsole(browser, url, { key, place, timezoneId: 'Europe/Berlin' });
    await page.getByRole('button', { name: 'Recover a period' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Since (Europe/Berlin)').fill('2026-01-01T00:00');
    await dialog.getByLabel('Until (Europe/Berlin; now when empty)').fill('2026-07-01T00:00');
    const [sent] = await Promise.all([
      page.waitForRequest((request) => /RecoverWebhook/.test(request.postData() ?? '')),
      dialog.getByRole('button', { name: 'Recover a period' }).click(),
    ]);
    expect(sent.postDataJSON().variables).toMatchObject({
      ...{ since: '2025-12-31T23:00:00.000Z', until: '2026-06-30T22:00:00.000Z' },
    });
  });

  test('the console shows an error at a time field whose year has five digits', async () => {
    const { key, locationId } = await gateway.newTenant();
    const { page, goTo } = await openConsole(browser, url, { key, place: `whitelist/${locationId}` });
    await page.getByRole('button', { name: 'Add a vehicle' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Valid until').fill('12026-01-01T00:00');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog
      .locator('.field')
      .filter({ hasText: 'Valid until' })
      .getByText('Must be an ISO 8601')
      .waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await goTo(`why/${locationId}`);
    const at = page.locator('.field').filter({ has: page.locator('input[type=datetime-local]') });
    await at.locator('input').fill('12026-01-01T00:00');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await at.getByText('Must be an ISO 8601').waitFor();
  });

  test('the form for an API key names the time zone of the expiry', async () => {
    const { key } = await gateway.newTenant();
    const { page } = await openConsole(browser, url, { key, place: 'keys', timezoneId: 'Europe/Berlin' });
    await page.getByRole('button', { name: 'Issue a key' }).click();
    await page.getByRole('dialog').getByLabel('Expires (Europe/Berlin;').waitFor();
  });
});
