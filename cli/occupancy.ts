import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { examples, plate, wholeNumber, withLocation } from './arguments.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import { AdjustOccupancyDocument, type PlateInput, SetInsideDocument } from './generated/operations.ts';
import type { Session } from './session.ts';
import { openSource, textOf } from './source.ts';
import { statusColumns } from './status.ts';

interface CountOptions {
  location: string;
  at?: string;
}

/** Adds the options of the two commands that record an occupancy count. */
const withCount = (command: Command) =>
  withLocation(command).option('--at <time>', 'when the vehicles were counted, ISO 8601 (default: now)');

/**
 * Returns the time at which the vehicles were counted. If the command sends the same occupancy count again after a
 * failure, the gateway recognizes the count by this time. The command therefore always sends a time. If the user has
 * not given a time, the command sends the current time.
 */
const timeOf = ({ at }: CountOptions) => at ?? new Date().toISOString();

/**
 * Reads plates from a file with one plate in each line. If the path is `-`, reads the plates from the standard input.
 *
 * @throws {Failure} when the file cannot be read, or a line is not a plate
 */
async function platesOf(path: string, { streams }: Session): Promise<PlateInput[]> {
  const content = await text(textOf(openSource(path, streams)));
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

/** Adds the command `occupancy`. */
export function addOccupancyCommands(program: Command, open: () => Session): void {
  const occupancy = program
    .command('occupancy')
    .description('correct the occupancy of locations (WRITE_ACTIVITY)')
    .addHelpText('after', examples('pms occupancy adjust --occupied 42 --location marina-gate'));

  withCount(occupancy.command('set-inside'))
    .description('report which vehicles are inside, after a count at the location')
    .addHelpText('after', examples('pms occupancy set-inside inside.txt --location marina-gate'))
    .argument(
      '<file>',
      'a file with the plates of all vehicles inside, one per line, such as DXB/A/7001; - for the standard input',
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
    .description('report how many vehicles are inside, when only the number is known')
    .addHelpText(
      'after',
      examples(
        'pms occupancy adjust --occupied 42 --location marina-gate',
        'pms occupancy adjust --occupied 42 --location marina-gate --at 2027-01-31T08:00:00Z',
      ),
    )
    .addOption(
      new Option('--occupied <vehicles>', 'how many vehicles are inside')
        .argParser(wholeNumber)
        .makeOptionMandatory(),
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
