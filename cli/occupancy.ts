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

/** Adds the options of the two commands with which a user records an occupancy count. */
const withCount = (command: Command) =>
  withLocation(command).option('--at <time>', 'when the vehicles were counted, ISO 8601 (default: now)');

/**
 * Returns the time at which the vehicles were counted. When the command repeats a request after a failure, the gateway
 * recognises the same occupancy count by its time. The command therefore always sends the time of the occupancy count.
 * If the user has not given a time, the command sends the current time.
 */
const timeOf = ({ at }: CountOptions) => at ?? new Date().toISOString();

interface SetInsideOptions extends CountOptions {
  allowEmpty?: boolean;
}

/**
 * Reads plates from a file with one plate in each line. If the path is `-`, reads the plates from the standard input.
 * Without the option `--allow-empty`, the function refuses a file without plates. A file without plates usually comes
 * from a failed program. If the command accepted this file, it would end the parking sessions of all vehicles at the
 * location.
 *
 * @throws {Failure} when the file cannot be read, contains no plates, or has a line that is not a plate
 */
async function platesOf(
  path: string,
  { allowEmpty = false }: SetInsideOptions,
  { streams }: Session,
): Promise<PlateInput[]> {
  const source = openSource(path, streams);
  const content = await text(textOf(source));
  const plates = content.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [plate(line)];
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new Failure(`Line ${index + 1}: ${error.message}`, exitCode.usage);
    }
  });
  if (plates.length > 0 || allowEmpty) return plates;
  throw new Failure(
    `${source.name} contains no plates. If no vehicle is inside, add the option --allow-empty. Nothing was sent.`,
    exitCode.usage,
  );
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
    .option('--allow-empty', 'accept a file without plates, because no vehicle is inside')
    .action(async (path: string, options: SetInsideOptions) => {
      const session = open();
      const plates = await platesOf(path, options, session);
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
