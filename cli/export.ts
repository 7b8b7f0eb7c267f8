import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { ExportEntriesDocument } from './generated/operations.ts';
import { itemsOf } from './pages.ts';
import type { Session } from './session.ts';
import { createCsvWriter, entryColumns } from './whitelist-csv.ts';

/** Adds `export`. */
export function addExportCommand(program: Command, open: () => Session): void {
  program
    .command('export')
    .description('export a whitelist as CSV that import takes; a request for each 100 entries')
    .requiredOption('--location <id>', 'the location')
    .option('--output <file>', 'where to write; the standard output when left out')
    .action(async ({ location, output: path }: { location: string; output?: string }) => {
      const { client, streams } = open();
      const entries = itemsOf(async (after) => {
        const variables = { locationId: location, after };
        return (await client.run(ExportEntriesDocument, variables, { repeatable: true })).whitelist;
      });
      const target = path === undefined ? streams.out : createWriteStream(path);
      await pipeline(Readable.from(entries), createCsvWriter(entryColumns), target, {
        end: path !== undefined,
      });
    });
}
