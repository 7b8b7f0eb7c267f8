// `npm run contract:check` fails when a change of the API breaks clients and the changelog does not announce it. The
// check compares the GraphQL schema and the OpenAPI document with the files of the last release in contract/<version>/.
import { readdir, readFile } from 'node:fs/promises';
import { announcedPaths, isAnnounced } from './announcements.ts';
import { breakingGraphChanges } from './graph-changes.ts';
import type { Document } from './openapi-document.ts';
import { breakingRestChanges } from './rest-changes.ts';

const root = new URL('..', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');
const readDocument = async (path: string) => JSON.parse(await read(path)) as Document;

const folders = await readdir(new URL('contract/', root), { withFileTypes: true });
const released = folders
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  .at(-1);
if (!released) throw new Error('contract/ has no folder of a release');

const changes = [
  ...(await breakingGraphChanges(
    await read(`contract/${released}/schema.graphql`),
    await read('schema/schema.graphql'),
  )),
  ...breakingRestChanges(
    await readDocument(`contract/${released}/openapi.json`),
    await readDocument('rest/openapi.json'),
  ),
];
const announced = announcedPaths(await read('CHANGELOG.md'));
const silent = changes.filter((change) => !isAnnounced(change, announced));

if (silent.length > 0) {
  console.error(`These changes break clients of ${released}, and CHANGELOG.md does not announce them:`);
  for (const { path, message } of silent) console.error(`  ${path}: ${message}`);
  console.error(
    'Undo these changes, or add a line "- **Breaking:** `<path>` …" to the section Unreleased of CHANGELOG.md.',
  );
  process.exitCode = 1;
} else {
  console.log(
    `The API has no unannounced breaking changes since ${released}; announced breaking changes: ${changes.length}.`,
  );
}
