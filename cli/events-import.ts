import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { withLocation } from './arguments.ts';
import { type EventLine, readEventLines, type Rejection } from './event-lines.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { type ParkingEventInput, RecordEventsDocument } from './generated/operations.ts';
import type { Session } from './session.ts';
import { createProgress, openSource } from './source.ts';

/** The most events of one call. */
const maxBatchSize = 1_000;

/** Writes rejected events to a file, which is made with the first of them. */
function createRejects(path: string) {
  let file: WriteStream | undefined;
  return {
    add({ line, event }: EventLine, { code, message, field, value }: Rejection): void {
      file ??= createWriteStream(path);
      file.write(`${JSON.stringify({ line, code, message, field, value, event })}\n`);
    },
    async close(): Promise<void> {
      if (file) await finished(file.end());
    },
  };
}

/** The lines of a file in batches. */
async function* batchesOf(lines: AsyncIterable<EventLine>): AsyncGenerator<EventLine[]> {
  let batch: EventLine[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === maxBatchSize) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

interface ImportOptions {
  location: string;
  rejects?: string;
}

async function importEvents(path: string, options: ImportOptions, session: Session): Promise<number> {
  const { client, output, streams } = session;
  const { rejects: rejectsPath = `${path === '-' ? 'stdin' : path}.rejected.jsonl` } = options;
  const source = openSource(path, streams);
  const locationId = await locationIdOf(client, options.location);
  const totals = { recorded: 0, unchanged: 0, corrected: 0, rejected: 0 };
  const rejects = createRejects(rejectsPath);

  /** Sends the events of a batch whose form is right, and writes down what is rejected. */
  async function send(batch: readonly EventLine[]): Promise<void> {
    const good = batch.filter(({ rejection }) => !rejection);
    const refused = new Map<EventLine, Rejection>();
    if (good.length > 0) {
      const events = good.map(({ event }) => event as ParkingEventInput);
      const { recordParkingEvents: result } = await client.run(
        RecordEventsDocument,
        { locationId, events },
        { repeatable: true },
      );
      totals.recorded += result.recorded;
      totals.unchanged += result.unchanged;
      totals.corrected += result.corrected;
      for (const { index, error } of result.rows) refused.set(good[index]!, error);
    }
    for (const line of batch) {
      const rejection = line.rejection ?? refused.get(line);
      if (!rejection) continue;
      totals.rejected += 1;
      rejects.add(line, rejection);
    }
  }

  const progress = createProgress(source, streams);
  let lines = 0;
  try {
    for await (const batch of batchesOf(readEventLines(source.stream))) {
      await send(batch).catch((error: Error) => {
        const [first, last] = [batch[0]?.line, batch.at(-1)?.line];
        throw new Failure(
          `Lines ${first} to ${last} failed, and nothing after them was sent. The file can be imported again: what is recorded stays as it is.\n${error.message}`,
        );
      });
      lines += batch.length;
      progress.show(source.stream.bytesRead, lines);
    }
  } finally {
    progress.stop();
    await rejects.close();
  }
  if (lines === 0) throw new Failure(`${source.name} is empty: each line must be an event`, exitCode.usage);
  output.one(totals, {
    recorded: 'recorded',
    unchanged: 'unchanged',
    corrected: 'corrected',
    rejected: 'rejected',
  });
  if (totals.rejected === 0) return exitCode.done;
  output.say(`Rejected events, and why: ${rejectsPath}`);
  return exitCode.rejected;
}

/** Adds `events import`. */
export function addEventImport(events: Command, open: () => Session, end: (code: number) => void): void {
  withLocation(events.command('import'))
    .description('record many events, as a gate kept them while it was offline: one JSON object in a line')
    .argument('<file>', 'the file; - for the standard input')
    .option('--rejects <file>', 'where to write rejected events; beside the file when left out')
    .action(async (file: string, options: ImportOptions) => end(await importEvents(file, options, open())));
}
