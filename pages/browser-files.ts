import { readFile } from 'node:fs/promises';
import { keepForEver, type ServedFile, servedFile } from './served-file.ts';

/**
 * The folder with the built browser files. The relative path `../dist/pages/` is correct for this source file in
 * `pages/` and for the bundle in `dist/`, because both folders have the same parent folder.
 */
const folder = new URL('../dist/pages/', import.meta.url);

const contentTypes: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The files that the build creates for the web pages: scripts, style sheets and the guide for moving to GraphQL. */
export interface BrowserFiles {
  /**
   * Returns the URL path of a built file. `name` is the file name without the hash that the build adds, such as
   * `explorer.js`.
   */
  addressOf(name: string): string;
  /** The Markdown text of the guide for clients that move from REST to GraphQL. */
  guide: string;
  /** Returns the built file that the gateway serves at a URL path. */
  at(address: string): ServedFile | undefined;
}

async function load(): Promise<BrowserFiles> {
  const list = await readFile(new URL('files.json', folder), 'utf8').catch((cause: unknown) => {
    throw new Error('The pages are not built: run `npm run build:pages`', { cause });
  });
  const names = JSON.parse(list) as Record<string, string>;
  const files = new Map<string, ServedFile>();
  for (const name of Object.values(names)) {
    const contentType = contentTypes[name.split('.').at(-1)!]!;
    files.set(`/assets/${name}`, servedFile(await readFile(new URL(name, folder)), contentType, keepForEver));
  }
  return {
    guide: await readFile(new URL('moving-to-graphql.md', folder), 'utf8'),
    addressOf: (name) => `/assets/${names[name]}`,
    at: (address) => files.get(address),
  };
}

let loaded: Promise<BrowserFiles> | undefined;

/**
 * Loads the built files into memory when a client requests the first web page. If no client requests a web page, the
 * gateway therefore uses less memory.
 */
export function loadBrowserFiles(): Promise<BrowserFiles> {
  loaded ??= load().catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  return loaded;
}
