import { type Command, Option } from 'commander';
import { wholeNumber } from './arguments.ts';
import { companyIdOf, locationIdOf } from './find.ts';
import { LocationsDocument, UpdateLocationDocument } from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';

const columns = {
  id: 'id',
  slug: 'slug',
  name: 'name',
  capacity: 'capacity',
  'longest stay (hours)': 'longestStayHours',
} as const;

/** How long a vehicle stays at the most on the command line. */
type LongestStay = number | 'forever';
const longestStayOf = (value: string): LongestStay => (value === 'forever' ? value : wholeNumber(value));

/** Adds `locations`. */
export function addLocationCommands(program: Command, open: () => Session): void {
  const locations = program
    .command('locations')
    .description('show and change locations (READ_LOCATIONS, WRITE_LOCATIONS)');
  locations
    .command('list')
    .description('list the locations that the key reaches')
    .option('--company <company>', 'only those of a company: its id, slug or name')
    .action(async ({ company }: { company?: string }) => {
      const { client, output } = open();
      const companyId = company === undefined ? undefined : await companyIdOf(client, company);
      const all = await allItemsOf(
        async (after) =>
          (await client.run(LocationsDocument, { companyId, after }, { repeatable: true })).locations,
      );
      output.many(all, columns);
    });
  locations
    .command('update')
    .description('change what is named of a location; the rest stays as it is')
    .argument('<location>', 'its id, slug or name')
    .addOption(
      new Option('--longest-stay <hours>', 'after how many hours a vehicle counts as gone, or `forever`')
        .argParser(longestStayOf)
        .makeOptionMandatory(),
    )
    .action(async (location: string, { longestStay }: { longestStay: LongestStay }) => {
      const { client, output } = open();
      const longestStayHours = longestStay === 'forever' ? null : longestStay;
      const id = await locationIdOf(client, location);
      const { updateLocation } = await client.run(
        UpdateLocationDocument,
        { id, input: { longestStayHours } },
        { repeatable: true },
      );
      output.one(updateLocation, columns);
    });
}
