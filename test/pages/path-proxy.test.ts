import { request as sendRequest } from 'node:http';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console.ts';
import { sharedTestGateway, serve } from '../support/harness.ts';
import { startHttpServer } from '../support/http-server.ts';
import { newUser } from '../support/user.ts';

const gateway = await sharedTestGateway();
const url = await serve(gateway);

/** Starts a proxy that serves the gateway only under the path `/parking/`. Returns the URL without the last slash. */
async function startPathProxy(): Promise<string> {
  const path = '/parking';
  const origin = await startHttpServer((request, response) => {
    if (!request.url!.startsWith(`${path}/`)) return response.writeHead(404).end();
    const { method, headers } = request;
    const forwarded = sendRequest(url + request.url!.slice(path.length), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    request.pipe(forwarded);
  });
  return origin + path;
}

describe.runIf(hasBrowser)('behind a proxy that serves the gateway under a path', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });

  test.each(['/', '/console', '/graphql', '/reference', '/moving-to-graphql'])(
    'all links and files of the page %s are under the path of the proxy',
    async (path) => {
      const proxy = await startPathProxy();
      const page = await (await newUser(browser)).newPage();
      const faults: string[] = [];
      page.on('response', (response) => {
        if (!response.url().startsWith(`${proxy}/`) || response.status() >= 400) faults.push(response.url());
      });
      await page.goto(proxy + path, { waitUntil: 'networkidle' });
      const addresses = await page.evaluate(() => [
        ...[...document.querySelectorAll<HTMLAnchorElement>('a[href], link[href]')].map(({ href }) => href),
        ...[...document.scripts].map(({ src }) => src),
      ]);
      const { origin } = new URL(proxy);
      const foreign = addresses.filter(
        (address) => address.startsWith(origin) && !address.startsWith(`${proxy}/`),
      );
      expect({ foreign, faults }).toEqual({ foreign: [], faults: [] });
      expect(addresses).toContain(`${proxy}/console`);
      expect(addresses).toContain(`${proxy}/`);
    },
  );

  test('the console shows live data, and opens the query of a view in the explorer', async () => {
    const proxy = await startPathProxy();
    const { key } = await gateway.newTenant();
    const { page, foreignRequests, operations } = await openConsole(browser, proxy, { key });
    await expect.poll(() => operations).toContain('SitesLive');
    const opening = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'as GraphQL' }).first().click();
    const explorer = await opening;
    await explorer.locator('.graphiql-query-editor .CodeMirror').waitFor();
    expect(explorer.url()).toMatch(new RegExp(`^${proxy}/graphql\\?query=`));
    expect(foreignRequests).toEqual([]);
  });
});
