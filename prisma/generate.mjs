// Generates prisma/generated/, the typed database client, from schema.prisma. The generated client is committed to Git,
// so that an installation does not need Prisma's command line. With --if-changed, the script generates the client only
// if schema.prisma or the version of a package that generates the client has changed. With --check, the script fails if
// the committed client differs from a newly generated client.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../tools/install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const schema = join(root, 'prisma/schema.prisma');
const generated = join(root, 'prisma/generated');
const stampName = '.made-from';

/**
 * Returns a hash of schema.prisma and of the versions of the packages that generate the database client. The hash
 * changes when the database client must be generated again.
 */
function stampOfSources() {
  const versionsOf = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).dependencies;
  const versions = [
    versionsOf('tools/package.json').prisma,
    versionsOf('package.json')['@pothos/plugin-prisma'],
  ];
  return createHash('sha256').update(readFileSync(schema)).update(versions.join(' ')).digest('hex');
}

/**
 * Runs `prisma generate` for the Prisma schema in a folder. The generated files are written to the folder `generated`
 * beside the schema.
 */
function generateIn(folder) {
  installPackages('tools');
  // Prisma's schema engine is not needed to generate the client. By default, Prisma's command line downloads a schema
  // engine from a host that many networks cannot reach. If the variable PRISMA_SCHEMA_ENGINE_BINARY contains the path
  // of an executable file, Prisma regards this file as its schema engine, and downloads none. Only the child process
  // that generates the Prisma client gets the variable PRISMA_SCHEMA_ENGINE_BINARY. With the variable
  // PRISMA_SCHEMA_ENGINE_BINARY, the commands `prisma db push` and `prisma migrate` would report success without doing
  // anything.
  const { status, error } = spawnSync(
    process.execPath,
    [
      join(root, 'tools/node_modules/prisma/build/index.js'),
      'generate',
      '--schema',
      join(folder, 'schema.prisma'),
    ],
    {
      cwd: root,
      env: {
        ...process.env,
        PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`, // Prisma looks for the Pothos generator in PATH
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
        CHECKPOINT_DISABLE: '1',
      },
      stdio: 'inherit',
    },
  );
  if (error || status !== 0) throw new Error('prisma generate failed', { cause: error });
  writeFileSync(join(folder, 'generated', stampName), `${stampOfSources()}\n`);
}

/** Returns a map from the path of each file in a folder and its subfolders to the text of the file. */
const filesOf = (folder) =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .map((path) => [relative(folder, path), readFileSync(path, 'utf8')]),
  );

function isUpToDate() {
  try {
    return readFileSync(join(generated, stampName), 'utf8').trim() === stampOfSources();
  } catch {
    return false;
  }
}

if (process.argv.includes('--check')) {
  const folder = join(root, 'node_modules/.cache/parking-gateway/generate');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(schema, join(folder, 'schema.prisma'));
  generateIn(folder);
  const [made, committed] = [filesOf(join(folder, 'generated')), filesOf(generated)];
  const different = [...new Set([...made.keys(), ...committed.keys()])].filter(
    (name) => made.get(name) !== committed.get(name),
  );
  if (different.length > 0) {
    console.error(`prisma/generated/ is out of date; run npm run generate: ${different.join(', ')}`);
    process.exitCode = 1;
  }
} else if (!process.argv.includes('--if-changed') || !isUpToDate()) {
  generateIn(join(root, 'prisma'));
}
