import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { withLocation } from './arguments.ts';
import { Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { replaceFile } from './replace-file.ts';
import type { Session } from './session.ts';
import { createCsvWriter, entryColumns, fieldsOf } from './whitelist-csv.ts';
import { feedPages } from './whitelist-feed.ts';

/** The entries of a whitelist, oldest first, in pages of the feed: 100,000 take 20 requests. */
async function* entriesOf({ client }: Session, locationId: string) {
  for await (const { upserts, reset } of feedPages(client, locationId, null, {
    repeatable: true,
    withUses: false,
  })) {
    if (reset) throw new Failure('The database was restored during the export. Export again.');
    yield* upserts.map(fieldsOf);
  }
}

/** Adds `export`. */
export function addExportCommand(program: Command, open: () => Session): void {
  withLocation(program.command('export'))
    .description('export a whitelist as CSV that import takes')
    .option('--output <file>', 'where to write; the standard output when left out, or -')
    .action(async ({ location, output: path = '-' }: { location: string; output?: string }) => {
      const session = open();
      const entries = Readable.from(entriesOf(session, await locationIdOf(session.client, location)));
      const rows = createCsvWriter(entryColumns);
      if (path === '-') return pipeline(entries, rows, session.streams.out, { end: false });
      await replaceFile(path, (target) => pipeline(entries, rows, target));
    });
}
