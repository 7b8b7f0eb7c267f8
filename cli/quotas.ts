import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { type CsvError, type Info, parse } from 'csv-parse';
import { wholeNumber, withLocation } from './arguments.ts';
import type { Client } from './client.ts';
import { exitCode, Failure } from './failure.ts';
import { locationIdOf } from './find.ts';
import {
  type QuotaInput,
  QuotasDocument,
  SetQuotaDocument,
  SetQuotasDocument,
} from './generated/operations.ts';
import { allItemsOf, maxPageSize } from './pages.ts';
import { replaceFile } from './replace-file.ts';
import type { Session } from './session.ts';
import { createCsvWriter } from './whitelist-csv.ts';

const enforcements = ['hard', 'report'] as const;
type Enforcement = (typeof enforcements)[number];

/** The columns of a file of quotas; without an enforcement it is HARD. */
const fileColumns = ['referenceId', 'inside', 'enforcement'] as const;

const columns = {
  reference: 'referenceId',
  'may be inside': 'inside',
  inside: 'used',
  enforcement: 'enforcement',
} as const;

/** The most quotas of one call. */
const maxBatchSize = 1_000;

const repeatable = { repeatable: true };

const quotasOf = (client: Client, locationId: string) =>
  allItemsOf(
    async (after) =>
      (await client.run(QuotasDocument, { locationId, first: maxPageSize, after }, repeatable)).quotas,
  );

/** A quota of a file. */
interface QuotaLine {
  line: number;
  quota: QuotaInput;
}

/** The quota of a row. @throws {Failure} for one that cannot be read, with its line */
function quotaOf(record: Record<string, string>, line: number): QuotaInput {
  const { referenceId = '', inside = '', enforcement = '' } = record;
  const named = enforcement.toLowerCase() || 'hard';
  if (!/^\d*$/.test(inside)) {
    throw new Failure(`Line ${line}: inside must be a whole number, or empty for no quota`, exitCode.usage);
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

/** Reads quotas from CSV. @throws {Failure} for a file that is none, with the line */
async function readQuotas(file: NodeJS.ReadableStream): Promise<QuotaLine[]> {
  const parser = file.pipe(
    parse({
      bom: true,
      info: true,
      skip_empty_lines: true,
      columns: (names: string[]) => {
        const known: readonly string[] = fileColumns;
        if (
          !names.includes('referenceId') ||
          !names.includes('inside') ||
          names.some((name) => !known.includes(name))
        ) {
          throw new Failure(`Line 1: the columns must be ${fileColumns.join(',')}`, exitCode.usage);
        }
        return names;
      },
    }),
  );
  file.on('error', (error) => parser.destroy(error));
  const quotas = new Map<string, QuotaLine>();
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: Record<string, string>;
      info: Info;
    }>) {
      const { lines: line } = info;
      const quota = quotaOf(record, line);
      const earlier = quotas.get(quota.referenceId);
      if (earlier) {
        throw new Failure(
          `Line ${line}: ${quota.referenceId} has a quota in line ${earlier.line} already`,
          exitCode.usage,
        );
      }
      quotas.set(quota.referenceId, { line, quota });
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { message, lines } = error as CsvError & { lines?: number };
    throw new Failure(lines === undefined ? message : `Line ${lines}: ${message}`, exitCode.usage);
  }
  return [...quotas.values()];
}

/** What was refused of some quotas, by the line of the file. */
function refusalOf(error: unknown, batch: readonly QuotaLine[], isFirst: boolean): unknown {
  if (!(error instanceof Failure)) return error;
  const index = /^quotas\.(\d+)\./.exec(error.field ?? '')?.[1];
  const refused = index === undefined ? undefined : batch[Number(index)];
  const place = refused
    ? `Line ${refused.line} was refused`
    : `Lines ${batch[0]?.line} to ${batch.at(-1)?.line} failed`;
  const before = isFirst ? 'no quota was set' : `the quotas of the lines before ${batch[0]?.line} were set`;
  return new Failure(`${place}, and ${before}. The file can be imported again.\n${error.message}`);
}

async function importQuotas(
  { client, output, streams }: Session,
  path: string,
  location: string,
): Promise<void> {
  const quotas = await readQuotas(path === '-' ? streams.in : createReadStream(path));
  const locationId = await locationIdOf(client, location);
  for (let start = 0; start < quotas.length; start += maxBatchSize) {
    const batch = quotas.slice(start, start + maxBatchSize);
    const variables = { locationId, quotas: batch.map(({ quota }) => quota) };
    await client.run(SetQuotasDocument, variables, repeatable).catch((error: unknown) => {
      throw refusalOf(error, batch, start === 0);
    });
  }
  output.one({ quotas: quotas.length }, { quotas: 'quotas' });
}

/** Adds `quotas`. */
export function addQuotaCommands(program: Command, open: () => Session): void {
  const quotas = program
    .command('quotas')
    .description(
      'show and set how many vehicles of a reference may be inside (READ_WHITELIST, WRITE_WHITELIST)',
    );
  withLocation(quotas.command('list'))
    .description('list quotas, and how many vehicles of each are inside')
    .action(async ({ location }: { location: string }) => {
      const { client, output } = open();
      output.many(await quotasOf(client, await locationIdOf(client, location)), columns);
    });
  withLocation(quotas.command('set'))
    .description('set the quota of a reference')
    .argument('<reference>', 'the reference id, such as unit-7')
    .addOption(
      new Option(
        '--inside <vehicles>',
        'how many may be inside; left out, the quota is taken away',
      ).argParser(wholeNumber),
    )
    .addOption(
      new Option('--enforcement <enforcement>', 'hard: refuse more; report: let them in and say so')
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
      `set quotas from CSV with the columns ${fileColumns.join(', ')}; an empty number takes one away`,
    )
    .argument('<file>', 'the CSV file; - for the standard input')
    .action((path: string, { location }: { location: string }) => importQuotas(open(), path, location));
  withLocation(quotas.command('export'))
    .description('export quotas as CSV that import takes')
    .option('--output <file>', 'where to write; the standard output when left out, or -')
    .action(async ({ location, output: path = '-' }: { location: string; output?: string }) => {
      const { client, streams } = open();
      const rows = Readable.from(await quotasOf(client, await locationIdOf(client, location)));
      const csv = createCsvWriter(fileColumns);
      if (path === '-') return pipeline(rows, csv, streams.out, { end: false });
      await replaceFile(path, (target) => pipeline(rows, csv, target));
    });
}
