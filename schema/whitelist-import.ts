import { z } from 'zod';
import type { ErrorCode } from '../src/errors/error-table.ts';
import { parseInput } from '../src/errors/faults.ts';
import { listInParts } from '../src/list-in-parts.ts';
import type { RowError } from '../src/errors/row-error.ts';
import { type ImportResult as Result, maxImportRows, type RejectedRow } from '../src/whitelist/import.ts';
import { builder } from './builder.ts';
import { entryValues, WhitelistEntry, WhitelistEntryInput, whitelistEntryRule } from './whitelist.ts';

/** The rows are checked one by one, so that a bad one does not keep the good ones out. */
const entriesRule = z
  .array(z.unknown())
  .min(1, 'At least one row is required')
  .max(maxImportRows, `At most ${maxImportRows} rows are allowed in one call`);

const ImportMode = builder.enumType('ImportMode', {
  description:
    'What an import does with rows whose plate the whitelist has, and with entries whose plate no row has.',
  values: {
    CREATE: { description: 'Only adds: a row whose plate the whitelist has is rejected.' },
    UPSERT: { description: 'Adds, and replaces the values of entries whose plate the whitelist has.' },
    REPLACE: {
      description:
        'Makes the whitelist equal to the rows, atomically: with one rejected row nothing changes.',
    },
  } as const,
});

const ImportOutcome = builder.enumType('ImportOutcome', {
  description: 'What happened to a row.',
  values: {
    CREATED: { description: 'The row is a new entry.' },
    UPDATED: { description: 'The row replaced the values of an entry.' },
    UNCHANGED: { description: 'The whitelist had the row already, with the same values.' },
    REJECTED: { description: 'The row was not taken; its error says why.' },
  } as const,
});

/** A rejected row, and the location that it was meant for. */
type ReportedRow = RejectedRow & { locationId: string };

/** The values of one row, by the rule of a single entry. */
const readEntry = (row: unknown) => entryValues(parseInput(whitelistEntryRule, row));

export const ImportError = builder.objectRef<RowError>('ImportError').implement({
  description: 'Why a row was rejected, in the words that a call for this row alone would get.',
  fields: (t) => ({
    code: t.string({
      description: 'The code: `VALIDATION_ERROR` or `DUPLICATE_VEHICLE`.',
      resolve: ({ code }): ErrorCode => code,
    }),
    message: t.exposeString('message', { description: 'What is wrong.' }),
    field: t.string({
      nullable: true,
      description: 'The field that is wrong; null for a plate that is there already.',
      resolve: ({ details }) => details?.field,
    }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The value that is wrong, as sent; null when missing.',
      resolve: ({ details }) => details?.value,
    }),
  }),
});

const ImportRow = builder.objectRef<ReportedRow>('ImportRow').implement({
  description: 'A row that was rejected.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Place of the row in the call, counted from 0.' }),
    outcome: t.field({
      type: ImportOutcome,
      description: 'What happened to the row.',
      resolve: () => 'REJECTED' as const,
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      complexity: { field: 10, multiplier: 1, reads: false }, // a thousand are read together
      description: 'The entry that has the plate already, if that is why.',
      resolve: ({ locationId, takenPlate }, _, { whitelist }) =>
        takenPlate && whitelist.entryOfPlate(locationId, takenPlate),
    }),
    error: t.field({
      type: ImportError,
      nullable: true,
      complexity: { field: 1, multiplier: 1, reads: false }, // the row has it
      description: 'Why it was rejected.',
      resolve: ({ error }) => error,
    }),
  }),
});

const ImportResult = builder.objectRef<Result>('ImportResult').implement({
  description: 'What an import did, or would do as a dry run.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Rows of the call.' }),
    created: t.exposeInt('created', { description: 'Rows that are new entries.' }),
    updated: t.exposeInt('updated', { description: 'Rows that changed an entry.' }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Rows that the whitelist had already, value for value.',
    }),
    deleted: t.exposeInt('deleted', {
      description: 'Entries that REPLACE removed because no row has their plate.',
    }),
    rejected: t.int({ description: 'Rows that were not taken.', resolve: ({ rejected }) => rejected.length }),
    rows: t.field({
      type: [ImportRow],
      description: 'The rejected rows, in their order.',
      // Up to 10,000; a fraction, since few rows are rejected as a rule. What their entries lead to is read for each all the same.
      complexity: { field: 1, multiplier: 200, wholeReads: true },
      resolve: ({ locationId, rejected }) => listInParts(rejected.map((row) => ({ ...row, locationId }))),
    }),
  }),
});

builder.mutationField('importWhitelistEntries', (t) =>
  t.field({
    type: ImportResult,
    permission: 'WRITE_WHITELIST',
    rowsPerPoint: 1000,
    description:
      'Takes many vehicles at once. Rows that break a rule are reported and the others taken, except in REPLACE, which takes all or none. Each batch of 2,500 rows (250 on the embedded database) is one transaction; REPLACE is one as a whole.',
    args: {
      locationId: t.arg.id({ required: true, description: 'Identifier of the location.' }),
      entries: t.arg({
        type: [WhitelistEntryInput],
        required: true,
        description: `The vehicles, 1 to ${maxImportRows}.`,
        validate: entriesRule,
      }),
      mode: t.arg({
        type: ImportMode,
        defaultValue: 'CREATE',
        description: 'What to do with plates that the whitelist has; `CREATE` when left out.',
      }),
      dryRun: t.arg.boolean({
        defaultValue: false,
        description: 'Says what would happen and changes nothing.',
      }),
    },
    resolve: (_, { locationId, entries, mode, dryRun }, context) =>
      context.whitelist.importRows(context, locationId, entries, readEntry, {
        mode: mode ?? 'CREATE',
        dryRun: dryRun ?? false,
      }),
  }),
);
