import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { examples, plateText, safeCsvOption, withLocation, withoutJson } from './arguments.ts';
import { createCsvWriter, type CsvOptions } from './csv.ts';
import { locationIdOf } from './find.ts';
import { replaceFile } from './replace-file.ts';
import type { Session } from './session.ts';
import { entryColumns, fieldsOf } from './whitelist-csv.ts';
import { feedPages } from './whitelist-feed.ts';

/**
 * Yields the whitelist entries of a location, with the oldest whitelist entry first. The function reads the whitelist
 * feed instead of the GraphQL list `whitelist`, because the feed has larger pages. A page of the feed contains up to
 * 5,000 whitelist entries, and a page of the list contains at most 100. The function therefore needs only 20 requests
 * to read 100,000 whitelist entries. During the export, a plate can move to another whitelist entry, for example when a
 * client deletes the entry and creates a new entry with the same plate. If the whitelist feed contains two entries with
 * the same plate for this reason, the function yields only the entry that comes last in the feed.
 */
async function* entriesOf({ client }: Session, locationId: string) {
  const entryOfPlate = new Map<string, ReturnType<typeof fieldsOf>>();
  for await (const { upserts, reset } of feedPages(client, locationId, null, {
    repeatable: true,
    withUses: false,
  })) {
    if (reset) entryOfPlate.clear();
    for (const entry of upserts) entryOfPlate.set(plateText(entry), fieldsOf(entry));
  }
  yield* entryOfPlate.values();
}

interface ExportOptions extends CsvOptions {
  location: string;
  output?: string;
}

/** Adds the command `export`. */
export function addExportCommand(program: Command, open: () => Session): void {
  withoutJson(withLocation(program.command('export')), 'CSV', 'pms --json whitelist list --limit <count>')
    .description('export a whitelist as CSV, which `pms import` can read')
    .addHelpText(
      'after',
      examples(
        'pms export --location marina-gate --output residents.csv',
        'pms export --location marina-gate --safe-csv > for-reading.csv',
      ),
    )
    .option('--output <file>', 'where to write; - is the standard output (default: -)')
    .option(...safeCsvOption)
    .action(async ({ location, output: path = '-', safeCsv }: ExportOptions) => {
      const session = open();
      const entries = Readable.from(entriesOf(session, await locationIdOf(session.client, location)));
      const rows = createCsvWriter(entryColumns, { safeCsv });
      if (path === '-') return pipeline(entries, rows, session.streams.out, { end: false });
      await replaceFile(path, (target) => pipeline(entries, rows, target));
    });
}
