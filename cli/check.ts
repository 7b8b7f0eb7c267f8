import { type Command, Option } from 'commander';
import { collect, examples, plateText, wholeNumber, withLocation } from './arguments.ts';
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

/** Adds the command `check`. */
export function addCheckCommand(program: Command, open: () => Session): void {
  withLocation(program.command('check'))
    .description('check whether a vehicle may enter, by the text that a camera read (READ_WHITELIST)')
    .addHelpText(
      'after',
      examples(
        "pms check 'A 12345' --location marina-gate",
        "pms check 'A 12345' --location marina-gate --alternative 'A 12346' --tolerance 1",
      ),
    )
    .argument('<text>', 'the text that the camera read, such as "A 12345"')
    .option('--plate-type <type>', 'only match entries of this plate type, such as DXB')
    .addOption(
      new Option('--alternative <text>', 'another possible reading; may be given more than once')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--tolerance <characters>',
        'also match entries that differ by up to this many confusable characters',
      )
        .argParser(wholeNumber)
        .default(0),
    )
    .option('--at <time>', 'the time of entry, ISO 8601 (default: now)')
    .action((text: string, options: CheckOptions) => check(open(), text, options));
}
