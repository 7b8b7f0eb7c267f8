import { z } from 'zod';
import type { ErrorCode } from '../src/errors/error-table.ts';
import { parseInput } from '../src/errors/faults.ts';
import { createChunkedList } from '../src/scheduling/chunked-list.ts';
import type { RowError } from '../src/errors/row-error.ts';
import {
  type ImportResult as Result,
  maxImportRows,
  type RejectedRow,
} from '../src/whitelist/import/import.ts';
import { builder } from './builder.ts';
import { entryValues, WhitelistEntry, WhitelistEntryInput, whitelistEntryRule } from './whitelist.ts';
import { identifier } from './rules.ts';

/**
 * The validation rule of the argument `entries` checks only the number of rows in an import. Later, the gateway
 * validates each row separately. An import stores its valid rows even if other rows are invalid, except in the mode
 * REPLACE.
 */
const entriesRule = z
  .array(z.unknown())
  .min(1, 'At least one row is required')
  .max(maxImportRows, `At most ${maxImportRows} rows are allowed in one call`);

const ImportMode = builder.enumType('ImportMode', {
  description:
    'How an import treats rows whose plate is already in the whitelist, and entries whose plate is in no row.',
  values: {
    CREATE: { description: 'Only adds entries. A row whose plate is already in the whitelist is rejected.' },
    UPSERT: { description: 'Adds entries, and replaces the values of entries with the same plate.' },
    REPLACE: {
      description:
        'Replaces the whole whitelist by the rows, in one transaction. If one row is rejected, nothing changes and the counters of created, updated, unchanged and deleted entries are 0.',
    },
  } as const,
});

const ImportOutcome = builder.enumType('ImportOutcome', {
  description: 'The result of a row.',
  values: {
    CREATED: { description: 'The row became a new entry.' },
    UPDATED: { description: 'The row replaced the values of an existing entry.' },
    UNCHANGED: { description: 'The whitelist already had the entry with the same values.' },
    REJECTED: { description: 'The row was rejected. The field `error` contains the reason.' },
  } as const,
});

/** A row that the gateway rejected during an import, with the id of the location of the whitelist. */
type ReportedRow = RejectedRow & { locationId: string };

/** Validates one row of an import with the rules for a single whitelist entry. */
const readEntry = (row: unknown) => entryValues(parseInput(whitelistEntryRule, row));

export const ImportError = builder.objectRef<RowError>('ImportError').implement({
  description:
    'The reason why the gateway rejected a row. The gateway would return an equal error message for a request with only this row.',
  fields: (t) => ({
    code: t.string({
      description: 'The error code: `VALIDATION_ERROR` or `DUPLICATE_VEHICLE`.',
      resolve: ({ code }): ErrorCode => code,
    }),
    message: t.exposeString('message', { description: 'The message of the error.' }),
    field: t.string({
      nullable: true,
      description: 'The invalid field; null for a plate that is already in the whitelist.',
      resolve: ({ details }) => details?.field,
    }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The invalid value that the client sent; null when the value is missing.',
      resolve: ({ details }) => details?.value,
    }),
  }),
});

const ImportRow = builder.objectRef<ReportedRow>('ImportRow').implement({
  description: 'A row that was rejected.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Position of the row in the request, counted from 0.' }),
    outcome: t.field({
      type: ImportOutcome,
      description: 'The result of the row.',
      resolve: () => 'REJECTED' as const,
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      complexity: { field: 10, multiplier: 1, reads: false }, // cheap: one SQL statement reads 1,000 whitelist entries
      description: 'The existing entry with the same plate, if the row was rejected because of this entry.',
      resolve: ({ locationId, takenPlate }, _, { services: { whitelist } }) =>
        takenPlate && whitelist.entryOfPlate(locationId, takenPlate),
    }),
    error: t.field({
      type: ImportError,
      nullable: true,
      complexity: { field: 1, multiplier: 1, reads: false }, // no database read, because each row contains its error
      description: 'The error because of which the gateway rejected the row.',
      resolve: ({ error }) => error,
    }),
  }),
});

const ImportResult = builder.objectRef<Result>('ImportResult').implement({
  description:
    'The result of an import. With `dryRun`, the gateway imports nothing and returns the result that a real import would have.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Number of rows in the call.' }),
    created: t.exposeInt('created', { description: 'Number of rows that became new entries.' }),
    updated: t.exposeInt('updated', { description: 'Number of rows that changed an entry.' }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Number of rows whose values are equal to the values of an existing entry.',
    }),
    deleted: t.exposeInt('deleted', {
      description: 'Number of entries that REPLACE removed because their plate is in no row.',
    }),
    rejected: t.int({ description: 'Number of rejected rows.', resolve: ({ rejected }) => rejected.length }),
    rows: t.field({
      type: [ImportRow],
      description: 'The rejected rows, in the order in which the request contains them.',
      // The cost computation assumes that the gateway rejects at most 200 rows of an import. In practice, even an
      // import of 10,000 rows rejects only a few rows. Because of `wholeReads`, a selected field that reads the
      // database still costs points for every row of the import.
      complexity: { field: 1, multiplier: 200, wholeReads: true },
      resolve: ({ locationId, rejected }) =>
        createChunkedList(rejected.map((row) => ({ ...row, locationId }))),
    }),
  }),
});

builder.mutationField('importWhitelistEntries', (t) =>
  t.field({
    type: ImportResult,
    permission: 'WRITE_WHITELIST',
    rowsPerPoint: 1000,
    description:
      'Imports many vehicles at once. The gateway reports invalid rows and imports the other rows. With REPLACE, the gateway imports all rows or none. The gateway imports each batch of 2,500 rows (250 on the embedded database) in one transaction. REPLACE is a single transaction.',
    args: {
      locationId: t.arg.id({
        required: true,
        description: 'Identifier of the location.',
        validate: identifier,
      }),
      entries: t.arg({
        type: [WhitelistEntryInput],
        required: true,
        description: `The vehicles, 1 to ${maxImportRows}.`,
        validate: entriesRule,
      }),
      mode: t.arg({
        type: ImportMode,
        defaultValue: 'CREATE',
        description: 'How the import treats rows whose plate is already in the whitelist. Default: `CREATE`.',
      }),
      dryRun: t.arg.boolean({
        defaultValue: false,
        description:
          'If true, the gateway changes nothing and returns the result that the import would have.',
      }),
    },
    resolve: (_, { locationId, entries, mode, dryRun }, context) =>
      context.services.whitelist.importRows(context, locationId, entries, readEntry, {
        mode: mode ?? 'CREATE',
        dryRun: dryRun ?? false,
      }),
  }),
);
