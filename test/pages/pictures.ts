// `npm run pictures:pages` starts a new gateway, and takes pictures of GraphiQL and of each console page, in light mode
// and in dark mode. The script writes all pictures to the folder in its argument, and copies the pictures for the
// documents to `docs/`.
import { copyFile, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';
import { startDemoProcess } from '../support/demo-process.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const folder = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'pictures-')));
const size = { width: 1280, height: 860 };

/** Maps the file name of each screenshot in docs/ to the file name of the same screenshot in the output folder. */
const shown = {
  'console-sites.png': 'sites-light.png',
  'console-why.png': 'why-light.png',
  'explorer.png': 'explorer-light.png',
};

/** A page of the console, and the steps that the script runs on the page before the script takes the picture. */
interface View {
  place: string;
  asOperator?: boolean;
  prepare?: (page: Page) => Promise<unknown>;
}

const views = (locationId: string): Record<string, View> => ({
  sites: { place: 'sites' },
  location: { place: `sites/${locationId}` },
  whitelist: {
    place: `whitelist/${locationId}`,
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'Plate number' }).fill('4711');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByText('2 / 4').waitFor();
    },
  },
  why: {
    place: `why/${locationId}`,
    prepare: async (page) => {
      await page.getByLabel('Text of the camera').fill('RAK V 9934');
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      await page.getByText('Your permit ended on').waitFor();
    },
  },
  key: { place: 'key' },
  webhooks: {
    place: 'webhooks',
    prepare: async (page) => {
      await page.getByRole('row').filter({ hasText: 'Failing since' }).getByRole('link').click();
      await page.getByRole('cell', { name: 'Failed', exact: true }).first().waitFor();
    },
  },
  keys: { place: 'keys', asOperator: true },
  audit: { place: 'audit', asOperator: true },
});

/** Takes a picture of a page. The picture shows no text cursor, and the mouse pointer is not over a button. */
async function take(page: Page, name: string) {
  await page.mouse.move(size.width / 2, size.height - 1);
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined); // The network of a page with an open event stream never becomes idle
  await page.screenshot({ path: join(folder, `${name}.png`), caret: 'hide' });
}

await mkdir(folder, { recursive: true });
const gateway = await startDemoProcess();
const browser = await openBrowser();

/** Opens the first location of the demo API key in the console, and returns the id of the location. */
async function firstLocation(page: Page): Promise<string> {
  await page.goto(`${gateway.url}/console`);
  await page.getByLabel('API key').fill(gateway.demoKey);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('link', { name: 'Marina Gate Tower' }).click();
  await page.waitForURL(/sites\/.+/);
  return page.url().split('/').at(-1)!;
}

async function picturesOfConsole(page: Page, colorScheme: string) {
  for (const [name, view] of Object.entries(views(await firstLocation(page)))) {
    const { place, asOperator, prepare } = view;
    const key = asOperator ? gateway.operatorKey : gateway.demoKey;
    await page.goto('about:blank');
    await page.goto(`${gateway.url}/console#/${place}`);
    await page.evaluate((secret) => sessionStorage.setItem('parking-gateway:session-key', secret), key);
    await page.reload();
    await page.locator('.view-header').waitFor();
    await prepare?.(page);
    await take(page, `${name}-${colorScheme}`);
  }
}

async function pictureOfExplorer(page: Page, colorScheme: string) {
  await page.goto(`${gateway.url}/graphql`);
  await page.getByLabel('API key').first().fill(gateway.demoKey);
  await page.locator('#key-status[data-kind=valid]').waitFor();
  await page.getByRole('button', { name: 'QuotaAndPass', exact: true }).click();
  await page.locator('.graphiql-editor-tool', { hasNotText: '"locationId": ""' }).waitFor();
  await page.getByRole('button', { name: /Execute query/ }).click();
  await page.locator('.result-window', { hasText: 'entriesRecorded' }).waitFor();
  await take(page, `explorer-${colorScheme}`);
}

for (const colorScheme of ['light', 'dark'] as const) {
  const context = await browser.newContext({ viewport: size, colorScheme });
  const page = await context.newPage();
  await picturesOfConsole(page, colorScheme);
  await pictureOfExplorer(page, colorScheme);
  await context.close();
}
await browser.close();
await gateway.end();
for (const [picture, file] of Object.entries(shown)) await copyFile(join(folder, file), join(docs, picture));
process.stdout.write(`${folder}\n`);
