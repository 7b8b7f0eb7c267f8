// This script bundles the browser files of the pages into dist/pages. Each file name contains a hash of the content.
// The script also writes the text of the guide into this folder.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('browser/', import.meta.url));
const target = fileURLToPath(new URL('../dist/pages/', import.meta.url));
const docs = new URL('../docs/', import.meta.url);

/** The pages of the guide after its first page. Their order is the order of the table on the first page. */
const guidePages = ['programs', 'companies', 'locations', 'whitelist', 'residents'];

/**
 * Converts a page to a section of the whole guide. Its headings move one level down, but code blocks stay unchanged.
 */
const asSection = (page) =>
  page
    .split(/^(```[^]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : part.replace(/^#/gm, '##')))
    .join('');

/** Returns the whole guide as one text, without the links between its pages. */
async function wholeGuide() {
  const first = await readFile(new URL('moving-to-graphql.md', docs), 'utf8');
  const others = await Promise.all(
    guidePages.map((name) => readFile(new URL(`moving-to-graphql/${name}.md`, docs), 'utf8')),
  );
  return [first, ...others.map(asSection)]
    .join('\n')
    .replace(
      /\[([^\]]+)\]\((?:\.\.\/)?(?:moving-to-graphql\/\w+|moving-to-graphql)\.md\)|\[([^\]]+)\]\(#[\w-]+\)/g,
      '$1$2',
    );
}

/** Writes a file atomically, because another process may be serving this folder. */
async function writeWhole(name, content) {
  const unfinished = join(target, `.${name}.${process.pid}`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(target, name));
}

/** Removes the fonts from the style of GraphiQL, because the pages use system fonts. */
const withoutFonts = {
  name: 'without-fonts',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]graphiql[\\/]dist[\\/]style\.css$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/@font-face\s*\{[^}]*\}/g, ''),
      loader: 'css',
    }));
  },
};

/** Removes the translations of React Aria into 30 languages, because the console is in English. */
const onlyEnglish = {
  name: 'only-english',
  setup(build) {
    const language = /react-aria.*[\\/]intl[\\/].*[a-z]{2}-[A-Z]{2}\.m?js$/;
    build.onLoad({ filter: language }, ({ path }) =>
      /en-US\.m?js$/.test(path) ? undefined : { contents: 'export default {}' },
    );
  },
};

const shared = {
  // The files refer to each other by the names that contain a hash.
  entryNames: '[name].[hash]',
  chunkNames: 'part.[hash]',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  plugins: [onlyEnglish],
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  outdir: target,
  write: false,
  logLevel: 'warning',
};

/**
 * The explorer is a single script. GraphiQL would load its parts one after another, but all parts are needed before an
 * operation can run.
 */
const explorer = {
  ...shared,
  entryPoints: [join(source, 'explorer.tsx')],
  plugins: [withoutFonts],
  alias: {
    'framer-motion': join(source, 'tab-list.tsx'),
    entities: join(source, 'html-entities.ts'),
  },
  external: ['graphql-ws'], // this package is never imported, because subscriptions are server-sent events
};

const otherPages = {
  ...shared,
  entryPoints: ['explorer-start.ts', 'reference.ts', 'page.css'].map((name) => join(source, name)),
};

/** The console consists of several scripts, so that the code of a view is loaded only when it is opened. */
const consolePage = {
  ...shared,
  entryPoints: [fileURLToPath(new URL('console/console.tsx', import.meta.url))],
  plugins: [onlyEnglish],
  splitting: true,
};

const bundles = await Promise.all([explorer, consolePage, otherPages].map((options) => build(options)));
const outputFiles = bundles.flatMap((bundle) => bundle.outputFiles);

/**
 * The files that the HTML of the pages refers to, by their names before the build. Other built files are not listed,
 * because only the bundles refer to them.
 */
const files = Object.fromEntries(
  outputFiles.map(({ path }) => {
    const name = basename(path);
    return [name.startsWith('part.') ? name : name.replace(/\.[A-Z0-9]{8}(?=\.\w+$)/, ''), name];
  }),
);
await mkdir(target, { recursive: true });
for (const { path, contents } of outputFiles) await writeWhole(basename(path), contents);
await writeWhole('moving-to-graphql.md', await wholeGuide());
await writeWhole('files.json', JSON.stringify(files));

const current = new Set([...Object.values(files), 'moving-to-graphql.md', 'files.json']);
for (const name of await readdir(target)) {
  if (!current.has(name) && !name.startsWith('.')) await rm(join(target, name), { force: true });
}
