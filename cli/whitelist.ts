import { type Command, InvalidArgumentError, Option } from 'commander';
import { examples, plate, plateText, positive, wholeNumber, withLocation } from './arguments.ts';
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
  'max entries': 'maxEntries',
  vehicle: 'vehicleType',
  note: 'note',
} as const;
/**
 * The columns of a table that lists whitelist entries. A table that shows a single whitelist entry has more columns
 * than a table that lists whitelist entries.
 */
const { id, plate: plateColumn, reference, from, until } = columns;
const listColumns = { id, plate: plateColumn, reference, from, until };

/** Parses weekly hours that a user wrote on the command line. */
function hoursArgument(text: string): WeeklyHoursInput[] {
  try {
    return parseHours(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}. Write hours in this form: ${hoursForm}`);
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
  if (hasMore)
    output.say(
      `Only the first ${limit} entries are shown: raise --limit to see more, or use \`pms export\`.`,
    );
}

async function add({ client, output }: Session, read: PlateInput, options: AddOptions): Promise<void> {
  const { location, reference: referenceId, from: validFrom, until: validUntil, ...others } = options;
  const locationId = await locationIdOf(client, location);
  const input = { ...read, referenceId, validFrom, validUntil, ...others };
  output.one((await client.run(AddEntryDocument, { locationId, input })).createWhitelistEntry, columns);
}

/**
 * Finds the whitelist entry of a plate.
 *
 * @throws {Failure} when the plate is not in the whitelist
 */
async function entryOf(client: Client, locationId: string, read: PlateInput) {
  const { entry } = await find(client, locationId, read, 0);
  if (!entry) throw new Failure(`The plate ${plateText(read)} is not in the whitelist.`);
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

/** Adds the command `whitelist`. */
export function addWhitelistCommands(program: Command, open: () => Session): void {
  const whitelist = program
    .command('whitelist')
    .description('show and change the vehicles that may enter (READ_WHITELIST, WRITE_WHITELIST)')
    .addHelpText(
      'after',
      examples(
        'pms whitelist add DXB/A/7001 --location marina-gate --reference unit-7',
        'pms whitelist list --location marina-gate --reference unit-7',
      ),
    );
  withLocation(whitelist.command('list'))
    .description('list entries, oldest first')
    .addHelpText(
      'after',
      examples(
        'pms whitelist list --location marina-gate',
        'pms whitelist list --location marina-gate --reference unit-7 --limit 20',
      ),
    )
    .option('--reference <id>', 'only entries with this reference id')
    .option('--plate-type <type>', 'only entries with this plate type, such as DXB')
    .addOption(new Option('--limit <entries>', 'how many').argParser(positive).default(maxPageSize))
    .action((options: ListOptions) => list(open(), options));
  withLocation(whitelist.command('add'))
    .description('add a vehicle')
    .addHelpText(
      'after',
      examples(
        'pms whitelist add DXB/A/7001 --location marina-gate --reference unit-7',
        'pms whitelist add DXB/A/7001 --location marina-gate --reference visitor-3 --until 2027-01-31T20:00:00Z --max-entries 1',
      ),
    )
    .argument('<plate>', 'the plate of the vehicle, such as DXB/A/7001', plate)
    .requiredOption('--reference <id>', 'the reference id of a resident, unit or contract')
    .option('--vehicle-type <text>', 'the kind of vehicle')
    .option('--note <text>', 'a note')
    .option('--from <time>', 'the time from which the vehicle may enter, ISO 8601')
    .option('--until <time>', 'the time until which the vehicle may enter, ISO 8601')
    .addOption(new Option('--hours <hours>', `weekly hours, such as "${hoursForm}"`).argParser(hoursArgument))
    .addOption(
      new Option('--max-entries <entries>', 'how many times the vehicle may enter in total').argParser(
        wholeNumber,
      ),
    )
    .action((read: PlateInput, options: AddOptions) => add(open(), read, options));
  withLocation(whitelist.command('hours'))
    .description('set the weekly hours in which a vehicle may enter')
    .addHelpText(
      'after',
      examples(
        "pms whitelist hours DXB/A/7001 'MON-FRI 07:00-19:00' --location marina-gate",
        "pms whitelist hours DXB/A/7001 '' --location marina-gate",
      ),
    )
    .argument('<plate>', 'the plate of the vehicle, such as DXB/A/7001', plate)
    .argument('<hours>', `such as "${hoursForm}"; an empty text for any time`, hoursArgument)
    .action((read: PlateInput, hours: WeeklyHoursInput[], { location }: { location: string }) =>
      setHours(open(), read, { location, hours }),
    );
  withLocation(whitelist.command('remove'))
    .description('remove a vehicle')
    .addHelpText('after', examples('pms whitelist remove DXB/A/7001 --location marina-gate'))
    .argument('<plate>', 'the plate of the vehicle, such as DXB/A/7001', plate)
    .action((read: PlateInput, { location }: { location: string }) => remove(open(), read, location));
  withLocation(whitelist.command('find'))
    .description('check whether a vehicle may enter, and by which entry')
    .addHelpText(
      'after',
      examples(
        'pms whitelist find DXB/A/7001 --location marina-gate',
        'pms whitelist find DXB/A/7001 --location marina-gate --tolerance 1',
      ),
    )
    .argument('<plate>', 'the plate of the vehicle, such as DXB/A/7001', plate)
    .addOption(
      new Option(
        '--tolerance <characters>',
        'also find plates that differ by up to this many confusable characters',
      )
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
