// `npm run build` writes the pages and the bundled programs to the folder dist/. With the option `--if-changed`, the
// script builds nothing if dist/ is up to date; `npm start` uses this option.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { externalPackages } from './external-packages.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));

/**
 * The files and folders from which dist/ is built. The file package-lock.json is also a source, because it determines
 * the npm packages that dist/ contains.
 */
const sources = [
  ...[
    'src',
    'schema',
    'rest',
    'cli',
    'pages',
    'prisma/generated',
    'docs/moving-to-graphql.md',
    'docs/moving-to-graphql',
  ],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'bundle.mjs', 'external-packages.mjs'],
];
const stampFile = join(root, 'dist', '.built-from');

/** Returns a hash of the Node version, and of the names, sizes and modification times of all source files. */
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
 * With this plugin of the bundler, every import of the package graphql loads the same copy of the package. Some
 * packages import the ES modules of graphql, and other packages load the CommonJS files of graphql. Without this plugin
 * of the bundler, the bundle would therefore contain two copies of graphql. The gateway would then fail, because one
 * copy of graphql rejects a schema that the other copy has created.
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
  const { build } = await import('esbuild').catch(() => {
    console.error(
      'dist/ was not built from these sources, and the packages that build it are not installed: run npm ci && npm run build',
    );
    process.exit(1);
  });
  await import('./pages/build.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['src/server.ts', 'src/migrate.ts', 'src/bootstrap-key.ts', 'cli/pms.ts'],
    entryNames: '[name]',
    outdir: 'dist',
    // The bundle contains the code of the npm packages. Without the bundle, the gateway would take twice as long to
    // start, because Node would have to find and read 1,500 files of the npm packages.
    bundle: true,
    external: externalPackages,
    plugins: [oneGraphql],
    splitting: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20',
    format: 'esm',
    // The banner (the code at the start of the bundle) defines `require`, because CommonJS packages in the bundle load
    // Node's own modules with `require`.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    // Without source maps, stack traces would show wrong line numbers. The source maps do not contain the source code,
    // so that each gateway process needs less memory.
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  await writeFile(stampFile, stamp);
}
