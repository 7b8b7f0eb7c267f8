import type { Command } from 'commander';
import { examples, withLocation } from './arguments.ts';
import { batchesOf, importInBatches, type RejectedRow } from './batch-import.ts';
import { type EventLine, readEventLines } from './event-lines.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { type ParkingEventInput, RecordEventsDocument } from './generated/operations.ts';
import { createRejects } from './rejected-rows.ts';
import type { Session } from './session.ts';
import { openSource } from './source.ts';

/** The maximum number of events in one request. */
const maxBatchSize = 1_000;

/** Converts a rejected parking event to one line of the file that contains the rejected events. */
function rejectedLine({ row: { line, event }, rejection }: RejectedRow<EventLine>): string {
  const { code, message, field, value } = rejection;
  return `${JSON.stringify({ line, code, message, field, value, event })}\n`;
}

interface ImportOptions {
  location: string;
  rejects?: string;
}

async function importEvents(path: string, options: ImportOptions, session: Session): Promise<number> {
  const { client, output, streams } = session;
  const { rejects: rejectsPath = `${path === '-' ? 'stdin' : path}.rejected.jsonl` } = options;
  const source = openSource(path, streams);
  const rejects = createRejects<EventLine>(rejectsPath, source, (lines) => lines.map(rejectedLine).join(''));
  const locationId = await locationIdOf(client, options.location);
  const totals = { recorded: 0, unchanged: 0, corrected: 0 };

  const { rows, rejected, unsaved } = await importInBatches(
    {
      source,
      batches: batchesOf(readEventLines(source), maxBatchSize, ({ event }) => event),
      noun: 'events',
      done: 'recorded',
      rejects,
      async send(lines, _, stopping) {
        if (lines.length === 0) return new Map();
        const events = lines.map(({ event }) => event as ParkingEventInput);
        const { recordParkingEvents: result } = await client.run(
          RecordEventsDocument,
          { locationId, events },
          { repeatable: true, stopping },
        );
        totals.recorded += result.recorded;
        totals.unchanged += result.unchanged;
        totals.corrected += result.corrected;
        return new Map(result.rows.map(({ index, error }) => [index, error]));
      },
    },
    session,
  );
  if (rows === 0) throw new Failure(`${source.name} is empty: each line must be an event`, exitCode.usage);
  output.one(
    { ...totals, rejected },
    {
      recorded: 'recorded',
      unchanged: 'unchanged',
      corrected: 'corrected',
      rejected: 'rejected',
    },
  );
  if (unsaved) throw unsaved;
  if (rejected === 0) return exitCode.done;
  output.say(`The rejected events, with the reasons, are in ${rejectsPath}`);
  return exitCode.rejected;
}

/** Adds the command `events import`. */
export function addEventImport(events: Command, open: () => Session, end: (code: number) => void): void {
  withLocation(events.command('import'))
    .description(
      'record events from a file with one JSON object per line, for example the events that a gate recorded while it was offline',
    )
    .addHelpText('after', examples('pms events import events.jsonl --location marina-gate'))
    .argument('<file>', 'the file; - for the standard input')
    .option('--rejects <file>', 'where to write rejected events (default: beside the input file)')
    .action(async (file: string, options: ImportOptions) => end(await importEvents(file, options, open())));
}
