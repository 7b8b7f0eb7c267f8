import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page, Request, Route } from 'playwright-core';
import { expect } from 'vitest';
import { newUser } from './user.ts';

/** The gateway's console in a browser, with the errors and requests of the open page. */
export interface OpenConsole {
  page: Page;
  /** The errors and warnings that the page has written to the browser's log. */
  complaints: string[];
  /** The URLs of the requests that the page has sent to servers other than the gateway. */
  foreignRequests: string[];
  /** The names of the GraphQL operations that the console has sent to the gateway so far. */
  operations: string[];
  /** Opens a page of the console such as `sites`, and waits for the header of the page. */
  goTo(place: string): Promise<void>;
}

/** Opens the console, and enters the given API key, as a user does. */
export async function openConsole(
  browser: Browser,
  url: string,
  options: { key?: string; place?: string } & BrowserContextOptions = {},
): Promise<OpenConsole> {
  const { key, place = 'sites', ...contextOptions } = options;
  const context = await newUser(browser, { reducedMotion: 'reduce', ...contextOptions });
  const page = await context.newPage();
  const [complaints, foreignRequests, operations]: string[][] = [[], [], []];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints!.push(message.text());
  });
  page.on('pageerror', (error) => complaints!.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(data|blob):/.test(request.url()))
      foreignRequests!.push(request.url());
    const [, name] = /(?:query|mutation|subscription) (\w+)/.exec(request.postData() ?? '') ?? [];
    if (name) operations!.push(name);
  });
  await page.goto(`${url}/console#/${place}`);
  if (key) {
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.locator('.view-header').waitFor();
  }
  return {
    page,
    complaints: complaints!,
    foreignRequests: foreignRequests!,
    operations: operations!,
    async goTo(next) {
      await page.evaluate((hash) => (location.hash = hash), `#/${next}`);
      await page.locator('.view-header').waitFor();
    },
  };
}

/** Waits until the page has drawn two frames, so that React has rendered the last response or input. */
export const drawFrames = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
  });

/**
 * Waits until the keyboard focus is in the open dialog, and then presses Escape. When a button that has the focus is
 * disabled or removed, the dialog gets the focus only after a short delay.
 */
export async function pressEscapeInDialog(page: Page): Promise<void> {
  const isFocused = () => page.evaluate(() => Boolean(document.activeElement?.closest('[role=dialog]')));
  await expect.poll(isFocused).toBe(true);
  await page.keyboard.press('Escape');
}

/** Tries to close the open dialog, with Escape and with a click beside the dialog. */
export async function tryToDismiss(page: Page): Promise<void> {
  await pressEscapeInDialog(page);
  await page.mouse.click(5, 5);
  await drawFrames(page);
}

/**
 * A delayed GraphQL request. The page has sent the request, but the gateway receives the request only after the test
 * has called `release`.
 */
export interface HeldRequest {
  /** Resolves when the page has sent the GraphQL request that the test delays. */
  held: Promise<unknown>;
  /** Forwards the delayed request to the gateway, and waits until the page has received and shown the response. */
  release(): Promise<void>;
}

/** Handles the first GraphQL request that the page sends for the given operation with the given variables. */
export async function handleRequest(
  page: Page,
  operation: string,
  variables: Record<string, unknown>,
  handle: (route: Route) => Promise<unknown>,
): Promise<void> {
  let isHandled = false;
  await page.route('**/graphql', async (route) => {
    const body = route.request().postDataJSON() as { query: string; variables?: Record<string, unknown> };
    const matches =
      body.query.includes(` ${operation}(`) &&
      Object.entries(variables).every(([name, value]) => body.variables?.[name] === value);
    if (isHandled || !matches) return route.fallback();
    isHandled = true;
    await handle(route);
  });
}

/** Delays the first GraphQL request that the page sends for the given operation with the given variables. */
export async function holdRequest(
  page: Page,
  operation: string,
  variables: Record<string, unknown> = {},
): Promise<HeldRequest> {
  let catchRequest!: (request: Request) => void;
  let send!: () => void;
  const caught = new Promise<Request>((resolve) => (catchRequest = resolve));
  const released = new Promise<void>((resolve) => (send = resolve));
  await handleRequest(page, operation, variables, async (route) => {
    catchRequest(route.request());
    await released;
    return route.continue();
  });
  return {
    held: caught,
    async release() {
      send();
      await (await (await caught).response())?.finished();
      await drawFrames(page);
    },
  };
}

/**
 * Waits for the next GraphQL request that the page sends for the given operation, and forwards this request to the
 * gateway. After the gateway has answered, the function aborts the connection, so that the page does not get the
 * response.
 */
export const loseResponse = (page: Page, operation: string): Promise<void> =>
  handleRequest(page, operation, {}, async (route) => {
    await route.fetch();
    await route.abort();
  });

/** Chooses a CSV file with the given lines in the import dialog of the console. */
export async function chooseFile(page: Page, lines: readonly string[], extraColumns = ''): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'choose a file' }).click();
  const header = `referenceId,plateType,plateCode,plateNumber${extraColumns}`;
  const buffer = Buffer.from([header, ...lines].join('\n'));
  await (await chooser).setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer });
}

/** Opens the import dialog on the whitelist page of the console, and chooses a CSV file with the given lines. */
export async function openImport(page: Page, lines: readonly string[]): Promise<void> {
  await page.getByRole('button', { name: 'Import or export CSV' }).click();
  await chooseFile(page, lines);
}

interface AxeViolation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Expects that axe-core finds no violation of the accessibility rules on the page. */
export async function expectAccessible(page: Page): Promise<void> {
  // The browser's debugger runs axe-core, so the content security policy of the page does not block axe-core.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: { resultTypes: string[] }): Promise<{ violations: AxeViolation[] }> };
    };
    // With the option `resultTypes`, axe-core checks all rules, but describes only the elements that violate a rule.
    // This saves time.
    return (await axe.run({ resultTypes: ['violations'] })).violations;
  });
  expect(
    violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 200)) })),
  ).toEqual([]);
}
