import type { PrismaClient } from '../../../prisma/generated/client/client.ts';
import type { WaitingAuthor } from '../../auth/key.ts';
import type { Database, Sql } from '../../database/types.ts';
import { ServiceError } from '../../errors/error-table.ts';
import { yieldToEventLoop } from '../../scheduling/yield.ts';
import { type RowError, rowError } from '../../errors/row-error.ts';
import type { LocationNotices } from '../../location-access/notices.ts';
import type { LocationFinder } from '../../location-access/find-location.ts';
import type { LocationSlots } from '../../location-access/location-slots.ts';
import { slotLimits } from '../../scheduling/limits.ts';
import { createSlots } from '../../scheduling/slots.ts';
import type { WhitelistEntryValues } from '../columns.ts';
import { createDryRun } from './dry-run.ts';
import {
  type InputParameters,
  inputParameters,
  type MergeMode,
  type MergeResult,
  rowsPerStatement,
} from './rows.ts';
import { createWhitelistMerge } from './merge.ts';
import { duplicateVehicle, type Plate } from '../plate.ts';
import { createWhitelistReplace } from './replace.ts';

/** The maximum number of rows in one import request. */
export const maxImportRows = 10_000;

/** The number of rows that the process validates before it yields to the event loop. */
const rowsCheckedPerYield = 500;

/**
 * The maximum number of rows in the first batch of an import that has several batches. The first batch is small, so
 * that the database begins to write early: while the database writes a batch, the process prepares the next batch.
 */
export const firstBatchRows = 1_000;

/** The options of an import. */
export interface ImportOptions {
  mode: MergeMode;
  /** Whether the import is a dry run, which reports the changes that the import would make, but changes nothing. */
  dryRun: boolean;
}

/** An imported row that the gateway rejected, and therefore did not write to the whitelist. */
export interface RejectedRow {
  /** The position of the rejected row in the list that the client sent, starting at 0. */
  index: number;
  /** The error that the gateway would return for a request that creates only this whitelist entry. */
  error: RowError;
  /** The plate of the row, if the row was rejected because its plate is already in the whitelist; otherwise null. */
  takenPlate: Plate | null;
}

/**
 * The result of a whitelist import. The field `total` is the number of rows that the client sent. The fields `created`,
 * `updated` and `unchanged` count the imported rows that created, changed or did not change a whitelist entry.
 */
export interface ImportResult {
  locationId: string;
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  /** The number of whitelist entries that an import with the mode REPLACE removed. */
  deleted: number;
  /** The rejected rows, in the order in which the client sent the rows. */
  rejected: RejectedRow[];
}

/**
 * The result of the validation of the imported rows. The array `good` contains the valid rows of the import. If several
 * valid rows have the same plate, `good` contains only the first of these rows.
 */
interface CheckedRows {
  good: { index: number; values: WhitelistEntryValues }[];
  rejected: RejectedRow[];
}

/** A batch of validated rows of an import. */
interface Batch extends CheckedRows {
  /** The whitelist entry values of the valid rows in the batch. */
  entries: WhitelistEntryValues[];
  /**
   * The SQL parameters with which the gateway writes the valid rows of the batch. For a REPLACE import and for a dry
   * run, `input` is `undefined`, because the gateway creates the SQL parameters of these imports later.
   */
  input: InputParameters | undefined;
}

/** Converts a row of the request to the values of a whitelist entry; throws a `ServiceError` for an invalid row. */
export type ReadRow = (row: unknown) => WhitelistEntryValues;

/** The functions that import rows into the whitelists of locations. */
export type WhitelistImport = ReturnType<typeof createWhitelistImport>;

/** Creates the functions that import rows into the whitelists of locations. */
export function createWhitelistImport(services: {
  prisma: PrismaClient;
  sql: Sql;
  locations: LocationFinder;
  locationSlots: LocationSlots;
  whitelistNotices: Pick<LocationNotices, 'publish'>;
  /** Whether the database is PostgreSQL or the embedded database. */
  kind: Database['kind'];
}) {
  const { locations, whitelistNotices } = services;
  const merge = createWhitelistMerge(services);
  const replace = createWhitelistReplace(services);
  const dryRun = createDryRun(services);
  const importSlots = createSlots(slotLimits.imports);

  async function take(
    author: WaitingAuthor,
    locationId: string,
    { entries, input }: Batch,
    options: ImportOptions & { mayRefuse: boolean },
  ): Promise<MergeResult> {
    const { mode, mayRefuse } = options;
    if (options.dryRun) {
      // The gateway checks the API key again, because the key can be revoked while the dry run waits to start.
      await author.reauthenticate();
      return dryRun(locationId, entries, mode);
    }
    return mode === 'REPLACE'
      ? replace(author, locationId, entries)
      : merge(author, locationId, input!, { mode, mayRefuse });
  }

  /** Validates and imports the rows batch by batch. If the import mode is REPLACE, all rows belong to one batch. */
  async function importInBatches(
    author: WaitingAuthor,
    locationId: string,
    rows: readonly unknown[],
    readRow: ReadRow,
    options: ImportOptions,
  ): Promise<ImportResult> {
    const total = rows.length;
    const result: ImportResult = {
      locationId,
      total,
      created: 0,
      updated: 0,
      unchanged: 0,
      deleted: 0,
      rejected: [],
    };
    const { rejected } = result;
    // After the gateway has stored one batch of an import, it must not refuse a later batch of this import with
    // `RATE_LIMIT_EXCEEDED`. If the gateway refused a later batch of an import, only the rows of the earlier batches
    // would be imported.
    let mayRefuse = true;

    async function mergeBatch(batch: Batch): Promise<void> {
      rejected.push(...batch.rejected);
      if (batch.good.length === 0 || (options.mode === 'REPLACE' && rejected.length > 0)) return;
      const merged = await take(author, locationId, batch, { ...options, mayRefuse });
      mayRefuse = false;
      if (!options.dryRun) whitelistNotices.publish(locationId);
      const created = merged.isNew.filter(Boolean).length;
      result.created += created;
      result.updated += merged.updated;
      result.deleted += merged.deleted;
      if (options.mode !== 'CREATE') {
        result.unchanged += batch.good.length - created - merged.updated;
        return;
      }
      for (const [position, { index, values }] of batch.good.entries()) {
        if (!merged.isNew[position])
          rejected.push({ index, error: rowError(duplicateVehicle(values)), takenPlate: values });
      }
    }

    const check = createRowCheck(rows, readRow);
    const createsInput = options.mode !== 'REPLACE' && !options.dryRun;

    /** Validates the rows from `start` to `end`, and creates their SQL parameters if `createsInput` is true. */
    async function prepareBatch(start: number, end: number): Promise<Batch> {
      const checked = await check(start, end);
      const entries = checked.good.map(({ values }) => values);
      return { ...checked, entries, input: createsInput ? inputParameters(entries) : undefined };
    }

    const size = options.mode === 'REPLACE' ? total : rowsPerStatement[services.kind];
    let end = total > size ? Math.min(firstBatchRows, size) : total;
    let batch = await prepareBatch(0, end);
    while (end < total) {
      const start = end;
      end = Math.min(start + size, total);
      // The process prepares the next batch while the database writes the current batch.
      [, batch] = await Promise.all([mergeBatch(batch), prepareBatch(start, end)]);
    }
    await mergeBatch(batch);
    rejected.sort((a, b) => a.index - b.index);
    return result;
  }

  return {
    /**
     * Imports up to 10,000 rows with one request. The gateway reports invalid rows, and imports all other rows. A
     * REPLACE import imports either all rows or none. The gateway writes each batch of rows in one transaction. A
     * REPLACE import writes all rows in a single transaction.
     *
     * @param readRow converts a row to the values of a whitelist entry. For an invalid row, `readRow` throws a
     *   `ServiceError` that describes the fault
     * @throws {ServiceError} `NOT_FOUND` for a location outside the API key's scope
     * @throws {ServiceError} `RATE_LIMIT_EXCEEDED` when too many imports of the API key, or too many changes of the
     *   location, are already waiting. The gateway also throws `RATE_LIMIT_EXCEEDED` when the import has waited too
     *   long for earlier imports or changes
     * @throws {ServiceError} `UNAUTHORIZED` or `FORBIDDEN` when the API key lost its access while the import waited
     */
    async importRows(
      author: WaitingAuthor,
      locationId: string,
      rows: readonly unknown[],
      readRow: ReadRow,
      options: ImportOptions,
    ): Promise<ImportResult> {
      await locations.find(author.key, locationId);
      return importSlots.run(author.key.id, () =>
        importInBatches(author, locationId, rows, readRow, options),
      );
    },
  };
}

/** Creates a function that validates a range of the imported rows, from a start index to an end index. */
function createRowCheck(rows: readonly unknown[], readRow: ReadRow) {
  const indexByPlate = new Map<string, number>();

  /**
   * Validates one row.
   *
   * @throws {ServiceError} for an invalid row. A row with the same plate as an earlier row of the import is also
   *   invalid
   */
  function checkRow(index: number): WhitelistEntryValues {
    const values = readRow(rows[index]);
    const plate = `${values.plateType} ${values.plateCode} ${values.plateNumber}`;
    const earlier = indexByPlate.get(plate);
    if (earlier !== undefined) throw duplicateVehicle(values, `Row ${earlier} has the same plate`);
    indexByPlate.set(plate, index);
    return values;
  }

  return async (start: number, end: number): Promise<CheckedRows> => {
    const checked: CheckedRows = { good: [], rejected: [] };
    for (let index = start; index < end; index += 1) {
      if (index % rowsCheckedPerYield === rowsCheckedPerYield - 1) await yieldToEventLoop();
      try {
        checked.good.push({ index, values: checkRow(index) });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        checked.rejected.push({ index, error: rowError(error), takenPlate: null });
      }
    }
    return checked;
  };
}
