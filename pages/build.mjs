// This script bundles the scripts and style sheets of the web pages into the folder dist/pages. The name of each
// bundled file contains a hash of its content. The script also writes the text of the guide for moving from REST to
// GraphQL into dist/pages.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('browser/', import.meta.url));
const target = fileURLToPath(new URL('../dist/pages/', import.meta.url));
const docs = new URL('../docs/', import.meta.url);

/**
 * All pages of the guide for moving to GraphQL except its first page. The pages are in the same order as in the table
 * on the first page.
 */
const guidePages = ['programs', 'companies', 'locations', 'whitelist', 'residents'];

/**
 * Converts a page to a section of the whole guide for moving to GraphQL. Each heading moves one level down, so `#`
 * becomes `##`. Code blocks stay unchanged.
 */
const asSection = (page) =>
  page
    .split(/^(```[^]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : part.replace(/^#/gm, '##')))
    .join('');

/**
 * Returns the whole guide for moving to GraphQL as one text, and replaces each link between its pages with the text of
 * the link.
 */
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

/**
 * Writes a file atomically. A gateway that is already running therefore never serves a half-written file from
 * dist/pages.
 */
async function writeWhole(name, content) {
  const unfinished = join(target, `.${name}.${process.pid}`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(target, name));
}

/** Removes the fonts from the style sheet of GraphiQL, because the pages use system fonts. */
const withoutFonts = {
  name: 'without-fonts',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]graphiql[\\/]dist[\\/]style\.css$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/@font-face\s*\{[^}]*\}/g, ''),
      loader: 'css',
    }));
  },
};

/** Removes all texts of React Aria that are not in English, because the console is in English. */
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
  // The name of each built file contains a hash of its content, and the built files import each other by these names.
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
 * The build options for the explorer, which becomes a single script. If the explorer had several scripts, a browser
 * would load the scripts one after another, and GraphiQL would start later.
 */
const explorer = {
  ...shared,
  entryPoints: [join(source, 'explorer.tsx')],
  plugins: [withoutFonts],
  alias: {
    'framer-motion': join(source, 'tab-list.tsx'),
    entities: join(source, 'html-entities.ts'),
  },
  external: ['graphql-ws'], // the explorer never loads graphql-ws, because its subscriptions use server-sent events
};

const otherPages = {
  ...shared,
  entryPoints: ['explorer-start.ts', 'reference.ts', 'page.css'].map((name) => join(source, name)),
};

/**
 * The console consists of several scripts, so that the browser loads the code of a view only when the user opens the
 * view.
 */
const consolePage = {
  ...shared,
  entryPoints: [fileURLToPath(new URL('console/console.tsx', import.meta.url))],
  plugins: [onlyEnglish],
  splitting: true,
};

const bundles = await Promise.all([explorer, consolePage, otherPages].map((options) => build(options)));
const outputFiles = bundles.flatMap((bundle) => bundle.outputFiles);

/**
 * The name of each built file contains a hash. For each built file, this object maps the file name without the content
 * hash to the file name with the content hash. As an exception, the key of a file that several scripts share (`part.…`)
 * also contains the hash.
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
