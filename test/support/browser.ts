import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/**
 * The paths of Chromium on Debian, other Linux systems and macOS. If several of these browsers are installed, the tests
 * start the browser whose path comes first in `knownPaths`. If the environment variable CHROMIUM_PATH contains a path,
 * the tests try this path first. In this list of paths, the headless shell of Chromium comes before the complete
 * browsers, because the headless shell uses only half as much CPU time.
 */
const knownPaths = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

function isProgram(path: string | undefined): path is string {
  if (!path) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const executablePath = knownPaths.find(isProgram);

if (!executablePath && process.env.CI) {
  throw new Error('No Chromium: install the package chromium, or set CHROMIUM_PATH');
}
if (!executablePath) {
  console.warn('NO CHROMIUM: the pages are not tested in a browser. Install chromium, or set CHROMIUM_PATH.');
}

/** Whether Chromium is installed. In CI, a missing browser makes the test run fail. */
export const hasBrowser = executablePath !== undefined;

/** Starts a headless browser, which the caller must close. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath!,
    // Chromium needs --no-sandbox when it runs as root, as in most containers.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
