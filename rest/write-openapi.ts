// For developers: `npm run openapi` writes the API reference, `npm run openapi:check` fails when it is stale.
import { readFile, writeFile } from 'node:fs/promises';
import { schema } from '../schema/index.ts';
import { createOpenApi } from './openapi.ts';

const file = new URL('openapi.json', import.meta.url);
const text = `${JSON.stringify(createOpenApi(schema), null, 2)}\n`;

if (!process.argv.includes('--check')) {
  await writeFile(file, text);
} else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
  console.error('rest/openapi.json is not what the graph says: run `npm run openapi` and commit it.');
  process.exitCode = 1;
}
