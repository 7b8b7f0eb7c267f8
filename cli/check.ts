import { type Command, Option } from 'commander';
import { collect, plateText, wholeNumber, withLocation } from './arguments.ts';
import { locationIdOf } from './find.ts';
import { CheckReadingDocument, type EntryFieldsFragment } from './generated/operations.ts';
import type { Session } from './session.ts';

interface CheckOptions {
  location: string;
  plateType?: string;
  alternative: string[];
  tolerance: number;
  at?: string;
}

const shown = (entry: EntryFieldsFragment) => `${plateText(entry)}, ${entry.referenceId}, ${entry.id}`;

async function check({ client, output }: Session, text: string, options: CheckOptions): Promise<void> {
  const { location, plateType, alternative: alternatives, tolerance, at } = options;
  const locationId = await locationIdOf(client, location);
  const reading = { text, plateType, alternatives };
  const { plateAccess: decision } = await client.run(
    CheckReadingDocument,
    { locationId, reading, tolerance, at },
    { repeatable: true },
  );
  output.one(decision, {
    'may enter': ({ allowed }) => (allowed ? 'yes' : 'no'),
    why: 'reason',
    entry: ({ entry }) => entry && shown(entry),
    checks: ({ checks }) =>
      checks.map(({ name, passed, detail }) => `${name} ${passed ? 'passed' : 'refused'}: ${detail}`),
    candidates: ({ candidates }) => candidates.map(({ entry }) => shown(entry)),
  });
}

/** Adds `check`. */
export function addCheckCommand(program: Command, open: () => Session): void {
  withLocation(program.command('check'))
    .description('say whether a vehicle may enter, by the text that a camera read (READ_WHITELIST)')
    .argument('<text>', 'what was read, such as "A 12345"')
    .option('--plate-type <type>', 'only entries of this type, such as DXB')
    .addOption(
      new Option('--alternative <text>', 'what else it may be; may be said more than once')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      new Option('--tolerance <characters>', 'also take entries that differ by so many confusable characters')
        .argParser(wholeNumber)
        .default(0),
    )
    .option('--at <time>', 'the time in question, ISO 8601; now when left out')
    .action((text: string, options: CheckOptions) => check(open(), text, options));
}
