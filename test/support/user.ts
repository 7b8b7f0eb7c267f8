import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { newAddress } from './addresses.ts';

/**
 * Opens a browser context for one user. The browser context closes at the end of the test, because open pages slow down
 * later tests. Each user has a different client address, because the rate limit of one address would otherwise apply to
 * all users together.
 */
export async function newUser(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    extraHTTPHeaders: { 'X-Forwarded-For': newAddress() },
    ...options,
  });
  // By default, Playwright waits at most 30 s for an action in the browser. On a busy machine, the browser needed more
  // than 30 s to read a file of 18 MB that the test had chosen.
  context.setDefaultTimeout(120_000);
  onTestFinished(() => context.close());
  return context;
}
