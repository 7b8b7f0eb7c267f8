import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { examples, safeCsvOption, withLocation } from './arguments.ts';
import { createCsvWriter, type CsvOptions } from './csv.ts';
import { locationIdOf } from './find.ts';
import { replaceFile } from './replace-file.ts';
import type { Session } from './session.ts';
import { entryColumns, fieldsOf } from './whitelist-csv.ts';
import { applyPage, type FeedEntry, feedPages } from './whitelist-feed.ts';

/**
 * Yields the whitelist entries of a location, with the oldest whitelist entry first. The command reads the whitelist
 * feed, because 21 requests to the feed are enough for 100,000 whitelist entries. The feed also contains the changes
 * that clients make during the export, so the function reads the whole feed before it yields the first entry.
 */
async function* entriesOf({ client }: Session, locationId: string) {
  const entries = new Map<string, FeedEntry>();
  const pages = feedPages(client, locationId, null, { repeatable: true, withUses: false });
  for await (const page of pages) applyPage(entries, page);
  for (const entry of entries.values()) yield fieldsOf(entry);
}

interface ExportOptions extends CsvOptions {
  location: string;
  output?: string;
}

/** Adds the command `export`. */
export function addExportCommand(program: Command, open: () => Session): void {
  withLocation(program.command('export'))
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
