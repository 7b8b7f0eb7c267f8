import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { choicesOf, examples, fraction, plate, plateText, withLocation } from './arguments.ts';
import { addEventImport } from './events-import.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { ParkingEventKind, type PlateInput, RecordEventDocument } from './generated/operations.ts';
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
 * Adds the command `events`.
 *
 * @param end a function that sets the exit code of the process; without a call of `end`, the exit code is 0
 */
export function addEventCommands(program: Command, open: () => Session, end: (code: number) => void): void {
  const events = program
    .command('events')
    .description('record that vehicles entered or left (WRITE_ACTIVITY)')
    .addHelpText(
      'after',
      examples(
        'pms events record --location marina-gate --kind entry --plate DXB/A/7001',
        'pms events import events.jsonl --location marina-gate',
      ),
    );
  addEventImport(events, open, end);
  withLocation(events.command('record'))
    .description('record that a vehicle entered or left')
    .addHelpText(
      'after',
      examples(
        'pms events record --location marina-gate --kind entry --plate DXB/A/7001',
        "pms events record --location marina-gate --kind exit --text 'A 7001' --confidence 0.9 --event-id gate-1-0815",
      ),
    )
    .addOption(
      new Option('--kind <kind>', 'whether the vehicle entered or left')
        .choices(choicesOf(ParkingEventKind))
        .makeOptionMandatory(),
    )
    .addOption(new Option('--plate <plate>', 'the plate, such as DXB/A/7001').argParser(plate))
    .addOption(
      new Option(
        '--text <text>',
        'the text that a camera read, instead of the plate, such as "A 7001"',
      ).conflicts('plate'),
    )
    .addOption(
      new Option('--confidence <0 to 1>', "the camera's confidence in the text")
        .argParser(fraction)
        .conflicts('plate'),
    )
    .option('--at <time>', 'when the vehicle entered or left, ISO 8601 (default: now)')
    .addOption(
      new Option('--event-id <id>', 'the id by which the gateway recognizes a repeated event').default(
        randomUUID(),
        'a new UUID',
      ),
    )
    .action(async ({ location, kind, plate: parts, text, confidence, at, eventId }: EventOptions) => {
      if (!parts && !text) throw new Failure('Give --plate or --text', exitCode.usage);
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
