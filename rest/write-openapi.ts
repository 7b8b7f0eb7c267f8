// For developers: `npm run openapi` writes the API reference and the documents in the guide for clients that move to
// the graph; `npm run openapi:check` fails when one of them is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { schema } from '../schema/index.ts';
import { withDocuments } from './guide-documents.ts';
import { createOpenApi } from './openapi.ts';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8').catch(() => '');

const guide = 'docs/moving-to-graphql.md';
const texts: Record<string, string> = {
  'rest/openapi.json': `${JSON.stringify(createOpenApi(schema), null, 2)}\n`,
  [guide]: await format(withDocuments(await read(guide)), {
    ...(await resolveConfig(guide)),
    filepath: guide,
  }),
};

for (const [path, text] of Object.entries(texts)) {
  if (!process.argv.includes('--check')) {
    await writeFile(new URL(`../${path}`, import.meta.url), text);
  } else if ((await read(path)) !== text) {
    console.error(`${path} is not what the graph says: run \`npm run openapi\` and commit it.`);
    process.exitCode = 1;
  }
}
