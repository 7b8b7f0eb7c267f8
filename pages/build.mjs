// Bundles the browser files of the pages into dist/pages, under names that contain a hash of the content. The text of
// the guide is written beside them.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('browser/', import.meta.url));
const target = fileURLToPath(new URL('../dist/pages/', import.meta.url));
const docs = new URL('../docs/', import.meta.url);

/** The pages of the guide after its first one, in the order of their table there. */
const guidePages = ['programs', 'companies', 'locations', 'whitelist', 'residents'];

/** Turns a page into a section of the whole guide: its headings, outside code blocks, move one level down. */
const asSection = (page) =>
  page
    .split(/^(```[^]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : part.replace(/^#/gm, '##')))
    .join('');

/** The whole guide as one text, without the links between its pages. */
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

/** Writes a file atomically, since another process may be serving this folder. */
async function writeWhole(name, content) {
  const unfinished = join(target, `.${name}.${process.pid}`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(target, name));
}

/** Removes the fonts from the style of GraphiQL, since the pages use system fonts. */
const withoutFonts = {
  name: 'without-fonts',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]graphiql[\\/]dist[\\/]style\.css$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/@font-face\s*\{[^}]*\}/g, ''),
      loader: 'css',
    }));
  },
};

/** Removes the translations of React Aria into 30 languages, since the console is English. */
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
  // Files refer to each other by names that contain a hash of the content.
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
 * The explorer is one script: its parts are all needed before an operation can run, and GraphiQL would load them one
 * after another.
 */
const explorer = {
  ...shared,
  entryPoints: [join(source, 'explorer.tsx')],
  plugins: [withoutFonts],
  alias: {
    'framer-motion': join(source, 'tab-list.tsx'),
    entities: join(source, 'html-entities.ts'),
  },
  external: ['graphql-ws'], // never imported: subscriptions are server-sent events
};

const otherPages = {
  ...shared,
  entryPoints: ['explorer-start.ts', 'reference.ts', 'page.css'].map((name) => join(source, name)),
};

/** The console is split, so that code for later views is loaded on demand. */
const consolePage = {
  ...shared,
  entryPoints: [fileURLToPath(new URL('console/console.tsx', import.meta.url))],
  plugins: [onlyEnglish],
  splitting: true,
};

const bundles = await Promise.all([explorer, consolePage, otherPages].map((options) => build(options)));
const outputFiles = bundles.flatMap((bundle) => bundle.outputFiles);

/** The files that pages load, by their names before the build. Bundles refer to their parts themselves. */
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
