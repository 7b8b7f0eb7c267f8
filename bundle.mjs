// `npm run build`: writes dist/, the pages and the bundled programs. `--if-changed`, as `npm start` does it, leaves
// dist/ alone when it was built from the files that are there now.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));

/** What dist/ is made of; the lock file stands for node_modules. */
const sources = [
  ...['src', 'schema', 'rest', 'cli', 'pages', 'prisma/generated', 'docs/moving-to-graphql.md'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'bundle.mjs'],
];
const stampFile = join(root, 'dist', '.built-from');

/**
 * Packages that stay in node_modules, since they load files that lie beside them: the embedded PostgreSQL, the lock
 * of its folder (a native library), and the log with its worker.
 */
const external = ['@electric-sql/pglite', 'fs-native-extensions', 'pino', 'pino-pretty'];

/** A hash of the names, sizes and times of all sources. */
async function stampOfSources() {
  const hash = createHash('sha256').update(process.version);
  for (const source of sources) {
    const path = join(root, source);
    const names = (await stat(path)).isDirectory() ? await readdir(path, { recursive: true }) : [''];
    for (const name of names.sort()) {
      const { size, mtimeMs } = await stat(join(path, name));
      hash.update(`${source}/${name} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

/**
 * One copy of graphql for everybody: some packages import its modules, others require its CommonJS files, and
 * graphql refuses a schema that another copy made.
 */
const oneGraphql = {
  name: 'one-graphql',
  setup(build) {
    const folder = join(root, 'node_modules', 'graphql');
    build.onResolve({ filter: /^graphql(\/|$)/ }, ({ path }) => {
      const name = path.slice('graphql/'.length).replace(/\.m?js$/, '') || 'index';
      const file = [`${name}.mjs`, `${name}/index.mjs`]
        .map((candidate) => join(folder, candidate))
        .find((candidate) => existsSync(candidate));
      return { path: file, sideEffects: false };
    });
  },
};

const stamp = await stampOfSources();
const builtFrom = await readFile(stampFile, 'utf8').catch(() => undefined);
if (!process.argv.includes('--if-changed') || builtFrom !== stamp) {
  await rm(stampFile, { force: true });
  const [{ build }] = await Promise.all([import('esbuild'), import('./pages/build.mjs')]);
  await build({
    absWorkingDir: root,
    entryPoints: ['src/server.ts', 'src/migrate.ts', 'src/bootstrap-key.ts', 'cli/pms.ts'],
    entryNames: '[name]',
    outdir: 'dist',
    // With their packages in one file the programs start in half the time that Node needs to find and read 1,500 files.
    bundle: true,
    external,
    plugins: [oneGraphql],
    splitting: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20',
    format: 'esm',
    // CommonJS packages in the bundle ask for Node's own modules by require.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    // For the lines of stack traces; the text of the sources would cost every process its memory.
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  await writeFile(stampFile, stamp);
}
