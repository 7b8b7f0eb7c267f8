// Only developers run this program, after they have changed the API. `npm run openapi` writes two things: the OpenAPI
// document, and the GraphQL documents in the guide for clients that move from REST to GraphQL. `npm run openapi:check`
// fails when the OpenAPI document or the guide is out of date.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { schema } from '../schema/index.ts';
import { withDocuments } from './guide-documents.ts';
import { createOpenApi } from './openapi.ts';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8').catch(() => '');

const guide = 'docs/moving-to-graphql';
const pages: Record<string, string> = {};
for (const name of await readdir(new URL(`../${guide}/`, import.meta.url))) {
  pages[`${guide}/${name}`] = await read(`${guide}/${name}`);
}

const texts: Record<string, string> = {
  'rest/openapi.json': `${JSON.stringify(createOpenApi(schema), null, 2)}\n`,
};
for (const [path, text] of Object.entries(withDocuments(pages))) {
  texts[path] = await format(text, { ...(await resolveConfig(path)), filepath: path });
}

for (const [path, text] of Object.entries(texts)) {
  if (!process.argv.includes('--check')) {
    await writeFile(new URL(`../${path}`, import.meta.url), text);
  } else if ((await read(path)) !== text) {
    console.error(`${path} is out of date: run \`npm run openapi\` and commit it.`);
    process.exitCode = 1;
  }
}
