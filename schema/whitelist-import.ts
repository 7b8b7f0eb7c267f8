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
import type { MergeMode } from '../src/whitelist/import/rows.ts';
import { builder } from './builder.ts';
import { entryValues, WhitelistEntry, WhitelistEntryInput, whitelistEntryRule } from './whitelist.ts';
import { locationIdArg } from './location.ts';

/**
 * The validation rule of the argument `entries` checks only the number of rows in an import. The gateway validates the
 * rows themselves later, each row separately. In all import modes except REPLACE, an import stores the valid rows even
 * if other rows are invalid.
 */
const entriesRule = z
  .array(z.unknown())
  .min(1, 'At least one row is required')
  .max(maxImportRows, `At most ${maxImportRows} rows are allowed in one call`);

const ImportMode = builder.enumType('ImportMode', {
  description:
    'Each row of an import contains the data of one whitelist entry. The import mode determines what the import does in two cases: a row has a plate that is already in the whitelist, or a whitelist entry has a plate that no row has.',
  values: {
    CREATE: {
      description:
        'Only adds whitelist entries. The gateway rejects a row whose plate is already in the whitelist.',
    },
    UPSERT: {
      description:
        'Adds whitelist entries. If the plate of a row is already in the whitelist, the row replaces the values of the existing whitelist entry.',
    },
    REPLACE: {
      description:
        'Replaces the whole whitelist with the rows of the import, in one transaction. If the gateway rejects a row, the whitelist stays unchanged, and `created`, `updated`, `unchanged` and `deleted` are 0.',
    },
  } as const satisfies Record<MergeMode, { description: string }>,
});

const ImportOutcome = builder.enumType('ImportOutcome', {
  description: 'What an import did with one of its rows.',
  values: {
    CREATED: { description: 'The import created a whitelist entry from the row.' },
    UPDATED: {
      description:
        'The import replaced the values of an existing whitelist entry with the values of the row.',
    },
    UNCHANGED: { description: 'The whitelist already contained an entry with the same values as the row.' },
    REJECTED: { description: 'The gateway rejected the row for the reason in the field `error`.' },
  } as const,
});

/** A rejected row of an import, with the id of the location whose whitelist the import changes. */
type ReportedRow = RejectedRow & { locationId: string };

/** Validates one row of an import with the same rules as the mutation `createWhitelistEntry`. */
const readEntry = (row: unknown) => entryValues(parseInput(whitelistEntryRule, row));

export const ImportError = builder.objectRef<RowError>('ImportError').implement({
  description:
    'The reason why the gateway rejected a row of an import or a parking event of a batch. The mutation for a single row or parking event, for example `createWhitelistEntry`, would fail with the same error.',
  fields: (t) => ({
    code: t.string({
      description: 'The error code: `VALIDATION_ERROR` or `DUPLICATE_VEHICLE`.',
      resolve: ({ code }): ErrorCode => code,
    }),
    message: t.exposeString('message', {
      description: 'The error message, which explains the error to a person.',
    }),
    field: t.string({
      nullable: true,
      description:
        'The name of the invalid field of the row or parking event; null if the gateway rejected the row because its plate is already in the whitelist.',
      resolve: ({ details }) => details?.field,
    }),
    value: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The invalid value of the field, as the client sent it; null when the value is missing.',
      resolve: ({ details }) => details?.value,
    }),
  }),
});

const ImportRow = builder.objectRef<ReportedRow>('ImportRow').implement({
  description: 'A row of an import that the gateway rejected.',
  fields: (t) => ({
    index: t.exposeInt('index', {
      description: 'Position of the row in the import request, counted from 0.',
    }),
    outcome: t.field({
      type: ImportOutcome,
      description: 'What the import did with the row.',
      resolve: () => 'REJECTED' as const,
    }),
    entry: t.field({
      type: WhitelistEntry,
      nullable: true,
      permission: 'READ_WHITELIST',
      complexity: { field: 10, multiplier: 1, reads: false }, // cheap: one SQL statement reads 1,000 whitelist entries
      description:
        'The existing whitelist entry with the same plate, if the gateway rejected the row because its plate is already in the whitelist.',
      resolve: ({ locationId, takenPlate }, _, { services: { whitelist } }) =>
        takenPlate && whitelist.entryOfPlate(locationId, takenPlate),
    }),
    error: t.field({
      type: ImportError,
      nullable: true,
      complexity: { field: 1, multiplier: 1, reads: false }, // no database read, because each row contains its error
      description: 'The reason why the gateway rejected the row.',
      resolve: ({ error }) => error,
    }),
  }),
});

const ImportResult = builder.objectRef<Result>('ImportResult').implement({
  description:
    'The result of an import. With `dryRun`, the gateway imports nothing, and the result is the same as for a real import of the rows.',
  fields: (t) => ({
    total: t.exposeInt('total', { description: 'Number of rows in the import request.' }),
    created: t.exposeInt('created', { description: 'Number of rows that became new whitelist entries.' }),
    updated: t.exposeInt('updated', {
      description: 'Number of rows that replaced the values of an existing whitelist entry.',
    }),
    unchanged: t.exposeInt('unchanged', {
      description: 'Number of rows whose values are equal to the values of an existing whitelist entry.',
    }),
    deleted: t.exposeInt('deleted', {
      description:
        'Number of whitelist entries that the mode REPLACE removed, because no row of the import contains their plates.',
    }),
    rejected: t.int({ description: 'Number of rejected rows.', resolve: ({ rejected }) => rejected.length }),
    rows: t.field({
      type: [ImportRow],
      description: 'The rejected rows, in the order in which the request contains them.',
      // Even an import of 10,000 rows usually rejects only a few rows. The gateway therefore estimates the cost of a
      // field of a rejected row for at most 200 rows: it multiplies the cost by the smaller of 200 and the number of
      // imported rows. For a field that reads the database (`wholeReads`), the gateway uses the greater of 200 and the
      // number of imported rows.
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
      'Imports many vehicles into a whitelist at once. In the modes CREATE and UPSERT, the gateway reports invalid rows and imports the valid rows. The modes CREATE and UPSERT import at most 2,500 rows in one transaction (250 rows on the embedded database). In the mode REPLACE, the gateway imports all rows or none, in a single transaction.',
    args: {
      locationId: t.arg.id(locationIdArg),
      entries: t.arg({
        type: [WhitelistEntryInput],
        required: true,
        description: `The vehicles to import, 1 to ${maxImportRows}.`,
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
          'Whether the import is only a test: if true, the gateway changes nothing, and returns the result that a real import would have.',
      }),
    },
    resolve: (_, { locationId, entries, mode, dryRun }, context) =>
      context.services.whitelist.importRows(context, locationId, entries, readEntry, {
        mode: mode ?? 'CREATE',
        dryRun: dryRun ?? false,
      }),
  }),
);
