import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { plate, plateText, withLocation } from './arguments.ts';
import { addEventImport } from './events-import.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { type ParkingEventKind, type PlateInput, RecordEventDocument } from './generated/operations.ts';
import type { Session } from './session.ts';

interface EventOptions {
  location: string;
  kind: Lowercase<ParkingEventKind>;
  plate?: PlateInput;
  text?: string;
  confidence?: number;
  at?: string;
  eventId: string;
}

/**
 * Adds `events`.
 *
 * @param end takes the exit code when it is not that of success
 */
export function addEventCommands(program: Command, open: () => Session, end: (code: number) => void): void {
  const events = program.command('events').description('record what gates saw (WRITE_ACTIVITY)');
  addEventImport(events, open, end);
  withLocation(events.command('record'))
    .description('record that a vehicle entered or left')
    .addOption(new Option('--kind <kind>', 'what happened').choices(['entry', 'exit']).makeOptionMandatory())
    .addOption(new Option('--plate <plate>', 'the plate, such as DXB/A/7001').argParser(plate))
    .addOption(
      new Option('--text <text>', 'what a camera read in place of the plate, such as "A 7001"').conflicts(
        'plate',
      ),
    )
    .addOption(new Option('--confidence <0 to 1>', 'how sure the camera was of the text').argParser(Number))
    .option('--at <time>', 'when, ISO 8601; now when left out')
    .addOption(
      new Option(
        '--event-id <id>',
        'the id that makes a repetition harmless; a new one when left out',
      ).default(randomUUID(), 'a new one'),
    )
    .action(async ({ location, kind, plate: parts, text, confidence, at, eventId }: EventOptions) => {
      if (!parts && !text) throw new Failure('Say --plate or --text', exitCode.usage);
      const { client, output } = open();
      const locationId = await locationIdOf(client, location);
      const input = {
        eventId,
        kind: kind.toUpperCase() as ParkingEventKind,
        ...(text ? { reading: { text, confidence } } : { plate: parts }),
        occurredAt: at ?? new Date().toISOString(),
      };
      const { recordParkingEvent: event } = await client.run(
        RecordEventDocument,
        { locationId, input },
        { repeatable: true },
      );
      output.one(event, {
        id: 'id',
        event: 'eventId',
        kind: 'kind',
        plate: plateText,
        text: 'text',
        at: 'occurredAt',
        listed: 'listed',
      });
    });
}
