// Bundles what the pages load into a browser: into dist/pages, under names that change with the content. The text of
// the guide goes beside it.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('browser/', import.meta.url));
const target = fileURLToPath(new URL('../dist/pages/', import.meta.url));
const guide = fileURLToPath(new URL('../docs/moving-to-graphql.md', import.meta.url));

/** Writes a file whole or not at all: another process may be serving this folder. */
async function writeWhole(name, content) {
  const unfinished = join(target, `.${name}.${process.pid}`);
  await writeFile(unfinished, content);
  await rename(unfinished, join(target, name));
}

const { outputFiles } = await build({
  entryPoints: ['explorer.tsx', 'reference.ts', 'page.css'].map((name) => join(source, name)),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  legalComments: 'none',
  outdir: target,
  write: false,
  logLevel: 'warning',
});

/** What a page asks for by name, and the file that has it. */
const files = Object.fromEntries(
  outputFiles.map(({ path, contents }) => {
    const name = basename(path);
    const hash = createHash('sha256').update(contents).digest('hex').slice(0, 16);
    return [name, name.replace(/\.(\w+)$/, `.${hash}.$1`)];
  }),
);
await mkdir(target, { recursive: true });
for (const { path, contents } of outputFiles) await writeWhole(files[basename(path)], contents);
await writeWhole(basename(guide), await readFile(guide));
await writeWhole('files.json', JSON.stringify(files));

const current = new Set([...Object.values(files), basename(guide), 'files.json']);
for (const name of await readdir(target)) {
  if (!current.has(name) && !name.startsWith('.')) await rm(join(target, name), { force: true });
}
