import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { newAddress } from './addresses.ts';

/**
 * Opens a browser context for one user, and closes the context when the test ends. Otherwise, the open pages would slow
 * down later tests. The requests of the user have their own client address, so that users do not share a rate limit.
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
  onTestFinished(() => context.close());
  return context;
}
