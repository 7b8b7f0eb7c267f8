import pLimit from 'p-limit';
import type { PrismaClient } from '../../prisma/generated/client/client.ts';
import type { Author } from '../auth/key.ts';
import type { Database, Sql } from '../database/types.ts';
import { ServiceError } from '../errors/error-table.ts';
import { freeMoment } from '../free-moment.ts';
import { type RowError, rowError } from '../errors/row-error.ts';
import type { LocationNotices } from '../locations/notices.ts';
import type { LocationReads } from '../locations/reads.ts';
import { createTurns, type Turns } from '../locations/turns.ts';
import type { WhitelistEntryValues } from './columns.ts';
import { createDryRun } from './dry-run.ts';
import { type MergeMode, type MergeResult, rowsPerStatement } from './import-rows.ts';
import { createWhitelistMerge } from './merge.ts';
import { duplicateVehicle, type Plate } from './plate.ts';
import { createWhitelistReplace } from './replace.ts';

/** How many rows one call may have. */
export const maxImportRows = 10_000;

/** How many rows are checked before other requests have their turn. */
const rowsCheckedPerTurn = 500;

/** How an import is made. */
export interface ImportOptions {
  mode: MergeMode;
  /** Says what would happen and changes nothing. */
  dryRun: boolean;
}

/** A row that was not taken. */
export interface RejectedRow {
  /** Place of the row in the call, counted from 0. */
  index: number;
  /** Why, in the words that a single create would use. */
  error: RowError;
  /** The plate that an entry of the location has already, if that is why. */
  takenPlate: Plate | null;
}

/** What an import did, in rows. */
export interface ImportResult {
  locationId: string;
  total: number;
  created: number;
  updated: number;
  unchanged: number;
  /** Entries that REPLACE removed. */
  deleted: number;
  /** In the order of the rows. */
  rejected: RejectedRow[];
}

/** Rows of a call, sorted into those that keep the rules and have a plate of their own, and the others. */
interface CheckedRows {
  good: { index: number; values: WhitelistEntryValues }[];
  rejected: RejectedRow[];
}

/** Gives the values of a row of a call; throws a `ServiceError` for a row that breaks a rule. */
export type ReadRow = (row: unknown) => WhitelistEntryValues;

/** The imports into the whitelists of one database. */
export type WhitelistImport = ReturnType<typeof createWhitelistImport>;

/** How many imports of one key may wait in a process; each holds the rows of its call in memory. */
const maxWaitingImportsPerKey = 20;

/** How many imports a process makes at once: each holds a connection for seconds, which others need too. */
const maxImportsAtOnce = 2;

/** Prepares imports. One of each key runs at a time, so that no key keeps those of others waiting for long. */
export function createWhitelistImport(services: {
  prisma: PrismaClient;
  sql: Sql;
  locations: Pick<LocationReads, 'find'>;
  locationTurns: Turns;
  whitelistNotices: Pick<LocationNotices, 'publish'>;
  /** The kind of the database. */
  kind: Database['kind'];
}) {
  const { locations, whitelistNotices } = services;
  const merge = createWhitelistMerge(services);
  const replace = createWhitelistReplace(services);
  const dryRun = createDryRun(services);
  const keyTurns = createTurns({
    maxWaiting: maxWaitingImportsPerKey,
    refusal: `More than ${maxWaitingImportsPerKey} imports of this key are waiting, please try again later`,
  });
  const limitOfProcess = pLimit(maxImportsAtOnce);

  function take(
    author: Author,
    locationId: string,
    entries: readonly WhitelistEntryValues[],
    options: ImportOptions,
  ): Promise<MergeResult> {
    const { mode } = options;
    if (options.dryRun) return dryRun(locationId, entries, mode);
    return mode === 'REPLACE'
      ? replace(author, locationId, entries)
      : merge(author, locationId, entries, mode);
  }

  /** Checks and takes the rows, batch by batch; REPLACE takes all of them at once. */
  async function importInTurn(
    author: Author,
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

    async function mergeBatch(batch: CheckedRows): Promise<void> {
      rejected.push(...batch.rejected);
      if (batch.good.length === 0 || (options.mode === 'REPLACE' && rejected.length > 0)) return;
      const entries = batch.good.map(({ values }) => values);
      const merged = await take(author, locationId, entries, options);
      if (!options.dryRun) whitelistNotices.publish(locationId);
      const created = merged.isNew.filter(Boolean).length;
      result.created += created;
      result.updated += merged.updated;
      result.deleted += merged.deleted;
      if (options.mode !== 'CREATE') {
        result.unchanged += entries.length - created - merged.updated;
        return;
      }
      for (const [position, { index, values }] of batch.good.entries()) {
        if (!merged.isNew[position])
          rejected.push({ index, error: rowError(duplicateVehicle(values)), takenPlate: values });
      }
    }

    const check = createRowCheck(rows, readRow);
    const size = options.mode === 'REPLACE' ? total : rowsPerStatement[services.kind];
    let batch = await check(0, Math.min(size, total));
    for (let end = size; end < total; end += size) {
      // While the database merges one batch, the next one is checked.
      [, batch] = await Promise.all([mergeBatch(batch), check(end, Math.min(end + size, total))]);
    }
    await mergeBatch(batch);
    rejected.sort((a, b) => a.index - b.index);
    return result;
  }

  return {
    /**
     * Takes many rows at once. Rows that break a rule are reported and the others taken, except in REPLACE,
     * which takes all or none. Each batch is one transaction; REPLACE is one as a whole.
     *
     * @param readRow gives the values of a row, or throws the `ServiceError` that says what is wrong with it
     * @throws {ServiceError} `NOT_FOUND` for a location out of reach, `RATE_LIMIT_EXCEEDED` when too many
     *   imports of the key are waiting
     */
    async importRows(
      author: Author,
      locationId: string,
      rows: readonly unknown[],
      readRow: ReadRow,
      options: ImportOptions,
    ): Promise<ImportResult> {
      await locations.find(author.key, locationId);
      return keyTurns.run(author.key.id, () =>
        limitOfProcess(() => importInTurn(author, locationId, rows, readRow, options)),
      );
    },
  };
}

/** Creates what checks the rows of a call, a part of them at a time. */
function createRowCheck(rows: readonly unknown[], readRow: ReadRow) {
  const indexByPlate = new Map<string, number>();

  /** @throws {ServiceError} when the row breaks a rule, or an earlier one has its plate */
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
      if (index % rowsCheckedPerTurn === rowsCheckedPerTurn - 1) await freeMoment();
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
