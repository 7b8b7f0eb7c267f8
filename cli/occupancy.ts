import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { plate, withLocation, wholeNumber } from './arguments.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { AdjustOccupancyDocument, type PlateInput, SetInsideDocument } from './generated/operations.ts';
import type { Session } from './session.ts';
import { openSource } from './source.ts';
import { statusColumns } from './status.ts';

interface CountOptions {
  location: string;
  at?: string;
}

/** Adds what every count is asked for. */
const withCount = (command: Command) =>
  withLocation(command).option('--at <time>', 'when they were counted, ISO 8601; now when left out');

/** The time of a count: always sent, so that a repetition is the same count. */
const timeOf = ({ at }: CountOptions) => at ?? new Date().toISOString();

/**
 * Reads plates from a file, one in a line, or from the standard input for `-`.
 *
 * @throws {Failure} when there is no such file, or a line is no plate
 */
async function platesOf(path: string, { streams }: Session): Promise<PlateInput[]> {
  const content = await text(openSource(path, streams).stream);
  return content.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [plate(line)];
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new Failure(`Line ${index + 1}: ${error.message}`, exitCode.usage);
    }
  });
}

/** Adds `occupancy`. */
export function addOccupancyCommands(program: Command, open: () => Session): void {
  const occupancy = program
    .command('occupancy')
    .description('correct how full locations are (WRITE_ACTIVITY)');

  withCount(occupancy.command('set-inside'))
    .description('tell which vehicles are inside, after a walk through the location')
    .argument(
      '<file>',
      'every plate that is inside, one in a line, such as DXB/A/7001; - for the standard input',
    )
    .action(async (path: string, options: CountOptions) => {
      const session = open();
      const plates = await platesOf(path, session);
      const locationId = await locationIdOf(session.client, options.location);
      const { setInside: status } = await session.client.run(
        SetInsideDocument,
        { locationId, plates, at: timeOf(options) },
        { repeatable: true },
      );
      session.output.one(status, statusColumns);
    });

  withCount(occupancy.command('adjust'))
    .description('tell how many vehicles are inside, where only the number is known')
    .addOption(
      new Option('--occupied <vehicles>', 'how many are inside').argParser(wholeNumber).makeOptionMandatory(),
    )
    .action(async ({ occupied, ...options }: CountOptions & { occupied: number }) => {
      const { client, output } = open();
      const locationId = await locationIdOf(client, options.location);
      const { adjustOccupancy: status } = await client.run(
        AdjustOccupancyDocument,
        { locationId, occupied, at: timeOf(options) },
        { repeatable: true },
      );
      output.one(status, statusColumns);
    });
}
