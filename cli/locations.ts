import { type Command, Option } from 'commander';
import { examples, requireChange, wholeNumber } from './arguments.ts';
import { companyIdOf, locationIdOf } from './find.ts';
import { CreateLocationDocument, LocationsDocument, UpdateLocationDocument } from './generated/operations.ts';
import { allItemsOf } from './pages.ts';
import type { Session } from './session.ts';

const columns = {
  id: 'id',
  slug: 'slug',
  name: 'name',
  capacity: 'capacity',
  'time zone': 'timezone',
  'longest stay (hours)': 'longestStayHours',
} as const;

/** The value of an option that accepts either a number or a special word, such as `unknown` or `forever`. */
type NumberOr<Word extends string> = number | Word;
const numberOr =
  <Word extends string>(word: Word) =>
  (value: string): NumberOr<Word> =>
    value === word ? word : wholeNumber(value);

/** The options that the commands `locations create` and `locations update` share. */
interface LocationOptions {
  name?: string;
  slug?: string;
  address?: string;
  description?: string;
  timezone?: string;
  capacity?: NumberOr<'unknown'>;
  longestStay?: NumberOr<'forever'>;
}

type CreateOptions = LocationOptions & { company?: string; name: string; slug: string };

/** Adds options for the optional fields of a location to the command `create` or `update`. */
const withDetails = (command: Command) =>
  command
    .option('--address <address>', 'the street address of the location')
    .option('--description <text>', 'a description of the location')
    .option(
      '--timezone <name>',
      'the IANA time zone of the location, such as Asia/Dubai; a new location has UTC by default',
    )
    .addOption(
      new Option('--capacity <vehicles>', 'the number of parking spaces, or `unknown`').argParser(
        numberOr('unknown'),
      ),
    )
    .addOption(
      new Option(
        '--longest-stay <hours>',
        'the number of hours after which a vehicle no longer counts as inside, or `forever` for no limit',
      ).argParser(numberOr('forever')),
    );

/** Converts the options of `locations create` or `locations update` to a GraphQL input. */
const inputOf = ({ capacity, longestStay, name, slug, address, description, timezone }: LocationOptions) => ({
  name,
  slug,
  address,
  description,
  timezone,
  capacity: capacity === 'unknown' ? null : capacity,
  longestStayHours: longestStay === 'forever' ? null : longestStay,
});

/** Adds the command `locations`. */
export function addLocationCommands(program: Command, open: () => Session): void {
  const locations = program
    .command('locations')
    .description('show, create and change locations (READ_LOCATIONS, WRITE_LOCATIONS)')
    .addHelpText('after', examples('pms locations list', 'pms locations update marina-gate --capacity 120'));
  locations
    .command('list')
    .description("list the locations in the key's scope")
    .addHelpText('after', examples('pms locations list', 'pms locations list --company example-parking'))
    .option('--company <company>', 'only locations of this company: the id, slug or name of the company')
    .action(async ({ company }: { company?: string }) => {
      const { client, output } = open();
      const companyId = company === undefined ? undefined : await companyIdOf(client, company);
      const all = await allItemsOf(
        async (after) =>
          (await client.run(LocationsDocument, { companyId, after }, { repeatable: true })).locations,
      );
      output.many(all, columns);
    });
  withDetails(
    locations
      .command('create')
      .description('create a location')
      .addHelpText(
        'after',
        examples(
          "pms locations create --name 'Marina Garage' --slug marina-garage --timezone Asia/Dubai --capacity 120",
        ),
      )
      .option(
        '--company <company>',
        'the company that owns the location: id, slug or name; may be omitted when the key has exactly one company',
      )
      .requiredOption('--name <name>', 'its name')
      .requiredOption(
        '--slug <slug>',
        'the short name of the location, such as marina-garage; unique within the company',
      ),
  ).action(async ({ company, ...options }: CreateOptions) => {
    const { client, output } = open();
    const companyId = company === undefined ? undefined : await companyIdOf(client, company);
    const input = { ...inputOf(options), name: options.name, slug: options.slug, companyId };
    output.one((await client.run(CreateLocationDocument, { input })).createLocation, columns);
  });
  withDetails(
    locations
      .command('update')
      .description('change the given fields of a location')
      .addHelpText(
        'after',
        examples(
          'pms locations update marina-gate --longest-stay 72',
          'pms locations update marina-gate --capacity unknown',
        ),
      )
      .argument('<location>', 'the id, slug or name of the location')
      .option('--name <name>', 'its name')
      .option('--slug <slug>', 'the short name of the location, unique within the company'),
  ).action(async (location: string, options: LocationOptions) => {
    requireChange(options);
    const { client, output } = open();
    const variables = { id: await locationIdOf(client, location), input: inputOf(options) };
    const { updateLocation } = await client.run(UpdateLocationDocument, variables, { repeatable: true });
    output.one(updateLocation, columns);
  });
}
