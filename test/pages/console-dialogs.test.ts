import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { holdRequest, loseResponse, openConsole, tryToDismiss } from '../support/console.ts';
import { newEntry, openTestGateway, serve } from '../support/harness.ts';

const gateway = await openTestGateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
const url = await serve(gateway);
const { prisma } = gateway.database;

/** Creates a company with two API keys, a webhook, and a location whose whitelist has two entries. */
async function newCompany() {
  const { key, companyId, locationId } = await gateway.newTenant();
  for (const plateNumber of ['1', '2']) {
    const body = newEntry({ referenceId: `unit-${plateNumber}`, plateCode: 'K', plateNumber });
    await gateway.rest('POST', `/locations/${locationId}/whitelist`, { key, body });
  }
  const { body } = await gateway.graph(
    `mutation ($id: ID!) {
      createWebhook(input: { url: "http://127.0.0.1:9/hook", events: [WHITELIST_CREATED], companyId: $id }) {
        webhook { id }
      }
    }`,
    { key, variables: { id: companyId } },
  );
  const keyName = `Gate ${newId()}`;
  await gateway.newKey({ companyIds: [companyId] });
  const where = { companies: { some: { id: companyId } } };
  const { id } = await prisma.apiKey.findFirstOrThrow({ where, orderBy: { id: 'desc' } });
  await prisma.apiKey.update({ where: { id }, data: { name: keyName } });
  const webhookId: string = body.data.createWebhook.webhook.id;
  return {
    key,
    keyName,
    places: { keys: 'keys', whitelist: `whitelist/${locationId}`, webhook: `webhooks/${webhookId}` },
  };
}

type Company = Awaited<ReturnType<typeof newCompany>>;

const pressIn = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

/** A dialog that sends a mutation, and the steps with which a user opens, fills in and submits the dialog. */
interface SendingDialog {
  title: string;
  place: keyof Company['places'];
  operation: string;
  send(page: Page, company: Company): Promise<void>;
}

/** The dialogs that close when the response of the gateway arrives. */
const closingDialogs: SendingDialog[] = [
  {
    ...{ title: 'changes an API key', place: 'keys', operation: 'ChangeKey' },
    async send(page, { keyName }) {
      await page.getByRole('button', { name: `Change ${keyName}` }).click();
      await page.getByLabel('Points in an hour').fill('800');
      await pressIn(page, 'Save');
    },
  },
  {
    ...{ title: 'revokes an API key', place: 'keys', operation: 'RevokeKey' },
    async send(page, { keyName }) {
      await page.getByRole('button', { name: `Revoke ${keyName}` }).click();
      await pressIn(page, 'Revoke');
    },
  },
  {
    ...{ title: 'changes a whitelist entry', place: 'whitelist', operation: 'ChangeEntry' },
    async send(page) {
      await page.getByRole('button', { name: 'Change DXB K 1' }).click();
      await page.getByLabel('Note').fill('blue');
      await pressIn(page, 'Save');
    },
  },
  {
    ...{ title: 'adds a whitelist entry', place: 'whitelist', operation: 'AddEntry' },
    async send(page) {
      await page.getByRole('button', { name: 'Add a vehicle' }).click();
      const values = { 'Plate type': 'DXB', 'Plate code': 'K', 'Plate number': '3', Reference: 'unit-3' };
      for (const [label, value] of Object.entries(values))
        await page.getByRole('dialog').getByLabel(label).fill(value);
      await pressIn(page, 'Save');
    },
  },
  {
    ...{ title: 'removes a whitelist entry', place: 'whitelist', operation: 'RemoveEntry' },
    async send(page) {
      await page.getByRole('button', { name: 'Remove DXB K 1' }).click();
      await pressIn(page, 'Remove');
    },
  },
];

/** The dialogs that show a result when the response of the gateway arrives. */
const otherDialogs: SendingDialog[] = [
  {
    ...{ title: 'sets a quota', place: 'whitelist', operation: 'SetQuota' },
    async send(page) {
      await page
        .getByRole('button', { name: /^Quota of the reference/ })
        .first()
        .click();
      await page.getByLabel('Vehicles inside at most').fill('4');
      await pressIn(page, 'Set the quota');
    },
  },
  {
    ...{ title: 'recovers webhook messages', place: 'webhook', operation: 'RecoverWebhook' },
    async send(page) {
      await page.getByRole('button', { name: 'Recover a period' }).click();
      await page.getByLabel('Since').fill('2026-01-01T00:00');
      await pressIn(page, 'Recover a period');
    },
  },
];

/** Opens the second dialog of a view, types a text in an input field of the dialog, and returns the input field. */
async function openSecondDialog(page: Page, place: SendingDialog['place']) {
  const [button, label] = place === 'keys' ? ['Issue a key', 'Name'] : ['Change DXB K 2', 'Note'];
  await page.getByRole('button', { name: button }).click();
  const field = page.getByRole('dialog').getByLabel(label, { exact: true });
  await field.fill('typed');
  return field;
}

describe.runIf(hasBrowser)('the dialogs of the console that send a change', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  /**
   * Opens a view of the console, and submits a dialog. The request that the dialog sends reaches the gateway only after
   * the test has called `change.release`.
   */
  async function sendAndHold({ place, operation, send }: SendingDialog) {
    const company = await newCompany();
    const { page } = await openConsole(browser, url, { key: company.key, place: company.places[place] });
    const change = await holdRequest(page, operation);
    await send(page, company);
    await change.held;
    return { page, change, dialog: page.getByRole('dialog') };
  }

  test.each([...closingDialogs, ...otherDialogs].map((dialog) => [dialog.title, dialog] as const))(
    'while a dialog waits for the response to its request, only the button Close closes the dialog (the dialog %s)',
    async (_, sending) => {
      const { page, change, dialog } = await sendAndHold(sending);
      await tryToDismiss(page);
      expect(await dialog.count()).toBe(1);
      expect(await dialog.getByRole('button', { name: 'Cancel', disabled: false }).count()).toBe(0);
      await page.context().setOffline(true);
      await change.release();
      await dialog.getByText('The gateway is unreachable').first().waitFor();
      await page.context().setOffline(false);
      await tryToDismiss(page);
      await expect.poll(() => dialog.count()).toBe(0);
    },
  );

  test('when the response to a change is lost, or the user closes the dialog before the response arrives, the list of the console still shows the change', async () => {
    const company = await newCompany();
    const { page, goTo } = await openConsole(browser, url, { key: company.key, place: 'keys' });
    const dialog = page.getByRole('dialog');
    const uncertain = dialog.getByText('cannot tell whether the gateway has made the change');
    const row = (name: string) => page.getByRole('row', { name, includeHidden: true });
    const issue = async (name: string) => {
      await page.getByRole('button', { name: 'Issue a key' }).click();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('READ_STATUS').check();
      await dialog.getByLabel('Test Location').check();
      await pressIn(page, 'Issue a key');
    };
    await loseResponse(page, 'IssueKey');
    await issue('Gate lost');
    await uncertain.waitFor();
    await row('Gate lost').waitFor();
    await pressIn(page, 'Cancel');

    const early = await holdRequest(page, 'IssueKey');
    await issue('Gate early');
    await early.held;
    await pressIn(page, 'Close');
    await early.release();
    await row('Gate early').waitFor();

    for (const [operation, button] of [
      ['RotateKey', 'Rotate'],
      ['RevokeKey', 'Revoke'],
    ] as const) {
      await loseResponse(page, operation);
      await page.getByRole('button', { name: `${button} ${company.keyName}` }).click();
      const reading = page.waitForRequest((request) => /query Keys/.test(request.postData() ?? ''));
      await pressIn(page, button);
      await uncertain.waitFor();
      await reading;
      await pressIn(page, 'Close');
    }
    await row(company.keyName).getByText('Revoked').waitFor();

    await goTo(company.places.whitelist);
    await loseResponse(page, 'AddEntry');
    await closingDialogs.find(({ operation }) => operation === 'AddEntry')!.send(page, company);
    await uncertain.waitFor();
    await row('DXB K 3').waitFor();
  });

  test.each(closingDialogs.map((dialog) => [dialog.title, dialog] as const))(
    'after a user has closed a dialog, the late response to the request of this dialog does not close the dialog that the user opens next (closed dialog: %s)',
    async (_, sending) => {
      const { page, change, dialog } = await sendAndHold(sending);
      await pressIn(page, 'Close');
      await expect.poll(() => dialog.count()).toBe(0);
      const field = await openSecondDialog(page, sending.place);
      await change.release();
      expect(await dialog.count()).toBe(1);
      expect(await field.inputValue()).toBe('typed');
    },
  );

  test('while the view of a webhook loads, its buttons are disabled, and the keyboard focus stays where the user has moved it', async () => {
    const { key, places } = await newCompany();
    const { page, goTo } = await openConsole(browser, url, { key, place: 'webhooks' });
    const deliveries = await holdRequest(page, 'WebhookDeliveries');
    await goTo(places.webhook);
    await deliveries.held;
    const back = page.getByRole('link', { name: '← Webhooks' });
    await back.focus();
    const buttons = ['Send a test message', 'Recover a period'].map((name) =>
      page.getByRole('button', { name }),
    );
    for (const button of buttons) expect(await button.isDisabled()).toBe(true);
    await deliveries.release();
    await page.getByRole('heading', { name: 'http://127.0.0.1:9/hook' }).waitFor();
    expect(await back.evaluate((link) => link === document.activeElement)).toBe(true);
    for (const button of buttons) expect(await button.isDisabled()).toBe(false);
  });
});
