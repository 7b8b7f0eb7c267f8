import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { choicesOf, examples, safeCsvOption, wholeNumber, withLocation, withoutJson } from './arguments.ts';
import { batchesOf, type FileRow, importInBatches } from './batch-import.ts';
import type { Client } from './client.ts';
import { createCsvWriter, type CsvOptions, readCsv } from './csv.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import {
  QuotaEnforcement,
  type QuotaInput,
  QuotasDocument,
  SetQuotaDocument,
  SetQuotasDocument,
} from './generated/operations.ts';
import { allItemsOf, maxPageSize } from './pages.ts';
import { replaceFile } from './replace-file.ts';
import type { Session } from './session.ts';
import { openSource, type Source } from './source.ts';

const enforcements = choicesOf(QuotaEnforcement);
type Enforcement = (typeof enforcements)[number];

/**
 * The columns of a CSV file with quotas of references (such as apartments). If the column `enforcement` is empty in a
 * row of the file, the quota of this row has the enforcement HARD.
 */
const fileColumns = ['referenceId', 'inside', 'enforcement'] as const;

const columns = {
  reference: 'referenceId',
  'may be inside': 'inside',
  inside: 'used',
  enforcement: 'enforcement',
} as const;

/** The maximum number of quotas that one request can set. */
const maxBatchSize = 1_000;

const repeatable = { repeatable: true };

const quotasOf = (client: Client, locationId: string) =>
  allItemsOf(
    async (after) =>
      (await client.run(QuotasDocument, { locationId, first: maxPageSize, after }, repeatable)).quotas,
  );

/** A quota for a reference (such as an apartment), with its line number in the CSV file. */
interface QuotaLine extends FileRow {
  quota: QuotaInput;
}

/**
 * Converts a row of the CSV file to a quota.
 *
 * @throws {Failure} an error with the line number of the row, when the row is invalid
 */
function quotaOf(fields: Record<string, string | null>, line: number): QuotaInput {
  const [referenceId = '', inside = '', enforcement = ''] = fileColumns.map((name) => fields[name] ?? '');
  const named = enforcement.toLowerCase() || 'hard';
  if (!/^\d{0,15}$/.test(inside)) {
    throw new Failure(
      `Line ${line}: inside must be a whole number, or empty to remove the quota`,
      exitCode.usage,
    );
  }
  if (!(enforcements as readonly string[]).includes(named)) {
    throw new Failure(`Line ${line}: enforcement must be HARD or REPORT`, exitCode.usage);
  }
  return {
    referenceId,
    inside: inside === '' ? null : Number(inside),
    enforcement: named.toUpperCase() as Uppercase<Enforcement>,
  };
}

/**
 * Reads the quotas of references (such as apartments) from a CSV file.
 *
 * @throws {Failure} when the file cannot be read, or is invalid; the error message contains the line number
 */
async function readQuotas(source: Source): Promise<QuotaLine[]> {
  const quotas = new Map<string, QuotaLine>();
  for await (const { fields, line } of readCsv(source, { required: fileColumns })) {
    const quota = quotaOf(fields, line);
    const earlier = quotas.get(quota.referenceId);
    if (earlier) {
      throw new Failure(
        `Line ${line}: line ${earlier.line} already has a quota of ${quota.referenceId}`,
        exitCode.usage,
      );
    }
    quotas.set(quota.referenceId, { line, quota });
  }
  return [...quotas.values()];
}

/**
 * When the gateway rejects a quota, adds the line number of this quota in the file to the error message. The gateway
 * rejects a whole batch of quotas if one quota is faulty.
 */
function refusalOf(error: unknown, batch: readonly QuotaLine[]): unknown {
  if (!(error instanceof Failure)) return error;
  const index = /^quotas\.(\d+)\./.exec(error.field ?? '')?.[1];
  const refused = index === undefined ? undefined : batch[Number(index)];
  return refused ? new Failure(`Line ${refused.line} was rejected.\n${error.message}`) : error;
}

async function importQuotas(session: Session, path: string, location: string): Promise<void> {
  const { client, output, streams } = session;
  const source = openSource(path, streams);
  const quotas = await readQuotas(source);
  const locationId = await locationIdOf(client, location);
  await importInBatches(
    {
      source,
      batches: batchesOf(quotas, maxBatchSize, ({ quota }) => quota),
      noun: 'quotas',
      done: 'set',
      async send(lines, batch, stopping) {
        const variables = { locationId, quotas: lines.map(({ quota }) => quota) };
        await client.run(SetQuotasDocument, variables, { repeatable: true, stopping }).catch((error) => {
          throw refusalOf(error, batch);
        });
        return new Map();
      },
    },
    session,
  );
  output.one({ quotas: quotas.length }, { quotas: 'quotas' });
}

interface ExportOptions extends CsvOptions {
  location: string;
  output?: string;
}

/** Adds the command `quotas`. */
export function addQuotaCommands(program: Command, open: () => Session): void {
  const quotas = program
    .command('quotas')
    .description(
      'show and set how many vehicles of a reference may be inside at once (READ_WHITELIST, WRITE_WHITELIST)',
    )
    .addHelpText(
      'after',
      examples(
        'pms quotas set unit-7 --inside 2 --location marina-gate',
        'pms quotas list --location marina-gate',
      ),
    );
  withLocation(quotas.command('list'))
    .description('list quotas, with the number of vehicles inside')
    .addHelpText('after', examples('pms quotas list --location marina-gate'))
    .action(async ({ location }: { location: string }) => {
      const { client, output } = open();
      output.many(await quotasOf(client, await locationIdOf(client, location)), columns);
    });
  withLocation(quotas.command('set'))
    .description('set the quota of a reference')
    .addHelpText(
      'after',
      examples(
        'pms quotas set unit-7 --inside 2 --location marina-gate',
        'pms quotas set unit-7 --location marina-gate',
      ),
    )
    .argument('<reference>', 'the reference id, such as unit-7')
    .addOption(
      new Option(
        '--inside <vehicles>',
        'how many vehicles may be inside at once; omit the number to remove the quota',
      ).argParser(wholeNumber),
    )
    .addOption(
      new Option(
        '--enforcement <enforcement>',
        'what happens when the quota is full: hard refuses the vehicle, report admits it and reports it',
      )
        .choices(enforcements)
        .default('hard'),
    )
    .action(
      async (
        referenceId: string,
        options: { location: string; inside?: number; enforcement: Enforcement },
      ) => {
        const { client, output } = open();
        const locationId = await locationIdOf(client, options.location);
        const enforcement = options.enforcement.toUpperCase() as Uppercase<Enforcement>;
        const variables = { locationId, referenceId, inside: options.inside, enforcement };
        output.one((await client.run(SetQuotaDocument, variables)).setQuota, columns);
      },
    );
  withLocation(quotas.command('import'))
    .description(
      `set quotas from CSV with the columns ${fileColumns.join(', ')}; an empty number removes a quota`,
    )
    .addHelpText('after', examples('pms quotas import quotas.csv --location marina-gate'))
    .argument('<file>', 'the CSV file; - for the standard input')
    .action((path: string, { location }: { location: string }) => importQuotas(open(), path, location));
  withoutJson(withLocation(quotas.command('export')), 'CSV', 'pms --json quotas list')
    .description('export quotas as CSV, which `pms quotas import` can read')
    .addHelpText('after', examples('pms quotas export --location marina-gate --output quotas.csv'))
    .option('--output <file>', 'where to write; - is the standard output (default: -)')
    .option(...safeCsvOption)
    .action(async ({ location, output: path = '-', safeCsv }: ExportOptions) => {
      const { client, streams } = open();
      const rows = Readable.from(await quotasOf(client, await locationIdOf(client, location)));
      const csv = createCsvWriter(fileColumns, { safeCsv });
      if (path === '-') return pipeline(rows, csv, streams.out, { end: false });
      await replaceFile(path, (target) => pipeline(rows, csv, target));
    });
}
