import { type Command, InvalidArgumentError, Option } from 'commander';
import { plate, plateText, wholeNumber, withLocation } from './arguments.ts';
import type { Client } from './client.ts';
import { Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import {
  AddEntryDocument,
  EntriesDocument,
  type EntryFieldsFragment,
  FindPlateDocument,
  type PlateInput,
  RemoveEntryDocument,
  SetEntryHoursDocument,
  type WeeklyHoursInput,
} from './generated/operations.ts';
import { hoursForm, hoursText, parseHours } from './hours-text.ts';
import { firstItemsOf, maxPageSize } from './pages.ts';
import type { Session } from './session.ts';

const columns = {
  id: 'id',
  plate: plateText,
  reference: 'referenceId',
  from: 'validFrom',
  until: 'validUntil',
  hours: ({ hours }: EntryFieldsFragment) => hoursText(hours),
  'most entries': 'maxEntries',
  vehicle: 'vehicleType',
  note: 'note',
} as const;
/** The columns of a table, which has less room than the answer to `--json`. */
const { id, plate: plateColumn, reference, from, until } = columns;
const listColumns = { id, plate: plateColumn, reference, from, until };

/** Reads hours from the command line. */
function hoursArgument(text: string): WeeklyHoursInput[] {
  try {
    return parseHours(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}. Write it like ${hoursForm}`);
  }
}

const repeatable = { repeatable: true };

const find = async (client: Client, locationId: string, read: PlateInput, tolerance: number) =>
  (await client.run(FindPlateDocument, { locationId, plate: read, tolerance }, repeatable)).plateAccess;

interface ListOptions {
  location: string;
  reference?: string;
  plateType?: string;
  limit: number;
}

interface AddOptions {
  location: string;
  reference: string;
  vehicleType?: string;
  note?: string;
  from?: string;
  until?: string;
  hours?: WeeklyHoursInput[];
  maxEntries?: number;
}

async function list({ client, output }: Session, options: ListOptions): Promise<void> {
  const { location, reference: referenceId, plateType, limit } = options;
  const locationId = await locationIdOf(client, location);
  const { items, hasMore } = await firstItemsOf(limit, async (first, after) => {
    const variables = { locationId, referenceId, plateType, first, after };
    return (await client.run(EntriesDocument, variables, repeatable)).whitelist;
  });
  output.many(items, listColumns);
  if (hasMore) output.say(`There are more than these ${limit}: say --limit, or use export.`);
}

async function add({ client, output }: Session, read: PlateInput, options: AddOptions): Promise<void> {
  const { location, reference: referenceId, from: validFrom, until: validUntil, ...others } = options;
  const locationId = await locationIdOf(client, location);
  const input = { ...read, referenceId, validFrom, validUntil, ...others };
  output.one((await client.run(AddEntryDocument, { locationId, input })).createWhitelistEntry, columns);
}

/** The entry of a plate. @throws {Failure} when the whitelist does not have it */
async function entryOf(client: Client, locationId: string, read: PlateInput) {
  const { entry } = await find(client, locationId, read, 0);
  if (!entry) throw new Failure(`The whitelist does not have ${plateText(read)}.`);
  return entry;
}

async function setHours(
  { client, output }: Session,
  read: PlateInput,
  { location, hours }: { location: string; hours: WeeklyHoursInput[] },
): Promise<void> {
  const locationId = await locationIdOf(client, location);
  const { id } = await entryOf(client, locationId, read);
  output.one((await client.run(SetEntryHoursDocument, { locationId, id, hours })).setEntryHours, columns);
}

async function remove({ client, output }: Session, read: PlateInput, location: string): Promise<void> {
  const locationId = await locationIdOf(client, location);
  const { id } = await entryOf(client, locationId, read);
  const { deleteWhitelistEntry } = await client.run(RemoveEntryDocument, { locationId, id });
  output.one(deleteWhitelistEntry, columns);
}

/** Adds `whitelist`. */
export function addWhitelistCommands(program: Command, open: () => Session): void {
  const whitelist = program
    .command('whitelist')
    .description('show and change the vehicles that may enter (READ_WHITELIST, WRITE_WHITELIST)');
  withLocation(whitelist.command('list'))
    .description('list entries, oldest first')
    .option('--reference <id>', 'only those with this reference id')
    .option('--plate-type <type>', 'only those with this plate type, such as DXB')
    .addOption(new Option('--limit <entries>', 'how many').argParser(wholeNumber).default(maxPageSize))
    .action((options: ListOptions) => list(open(), options));
  withLocation(whitelist.command('add'))
    .description('add a vehicle')
    .argument('<plate>', 'its plate, such as DXB/A/7001', plate)
    .requiredOption('--reference <id>', 'whose it is: a resident, a unit or a contract')
    .option('--vehicle-type <text>', 'what kind of vehicle it is')
    .option('--note <text>', 'what else is to be known')
    .option('--from <time>', 'from when on it may enter, ISO 8601')
    .option('--until <time>', 'until when it may enter, ISO 8601')
    .addOption(
      new Option('--hours <hours>', `when in a week, such as "${hoursForm}"`).argParser(hoursArgument),
    )
    .addOption(
      new Option('--max-entries <entries>', 'how many entries it may make in all').argParser(wholeNumber),
    )
    .action((read: PlateInput, options: AddOptions) => add(open(), read, options));
  withLocation(whitelist.command('hours'))
    .description('set when in a week a vehicle may enter')
    .argument('<plate>', 'its plate, such as DXB/A/7001', plate)
    .argument('<hours>', `such as "${hoursForm}"; an empty text for all times`, hoursArgument)
    .action((read: PlateInput, hours: WeeklyHoursInput[], { location }: { location: string }) =>
      setHours(open(), read, { location, hours }),
    );
  withLocation(whitelist.command('remove'))
    .description('remove a vehicle')
    .argument('<plate>', 'its plate, such as DXB/A/7001', plate)
    .action((read: PlateInput, { location }: { location: string }) => remove(open(), read, location));
  withLocation(whitelist.command('find'))
    .description('say whether a vehicle may enter, and by which entry')
    .argument('<plate>', 'its plate, such as DXB/A/7001', plate)
    .addOption(
      new Option('--tolerance <characters>', 'also find plates that differ by so many confusable characters')
        .argParser(wholeNumber)
        .default(0),
    )
    .action(async (read: PlateInput, options: { location: string; tolerance: number }) => {
      const { client, output } = open();
      const locationId = await locationIdOf(client, options.location);
      const decision = await find(client, locationId, read, options.tolerance);
      const shown = (entry: EntryFieldsFragment) => `${plateText(entry)}, ${entry.referenceId}, ${entry.id}`;
      output.one(decision, {
        'may enter': ({ allowed }) => (allowed ? 'yes' : 'no'),
        why: 'reason',
        entry: ({ entry }) => entry && shown(entry),
        candidates: ({ candidates }) => candidates.map(({ entry }) => shown(entry)),
      });
    });
}
