import { partsOf } from '../../database/parts.ts';
import type { Database } from '../../database/types.ts';
import { newId } from '../../ids.ts';
import {
  isMergeChange,
  keepArrayParameters,
  keepColumnList,
  mergedAssignments,
  plateColumnList,
  valueArrayParameters,
  valueArrays,
  valueColumnList,
  valueColumnsOf,
  type WhitelistEntryValues,
} from '../columns.ts';

// SQL that the import statements share.

/** How an import treats rows whose plate the location already has, and entries whose plate no row has. */
export type MergeMode = 'CREATE' | 'UPSERT' | 'REPLACE';

/** The actual or predicted result of an import. */
export interface MergeResult {
  /** Whether each row is a new entry, in the order of the rows. */
  isNew: boolean[];
  /** The number of rows that changed an entry. */
  updated: number;
  /** The number of entries that REPLACE removed. */
  deleted: number;
}

/**
 * The number of rows per statement. The embedded database runs one statement at a time, so gates wait for a statement
 * to end.
 */
export const rowsPerStatement: Record<Database['kind'], number> = { postgresql: 2_500, embedded: 250 };

/** Splits rows into the parts that one statement can take. */
export const statementParts = <Row>(rows: readonly Row[], kind: Database['kind']): Row[][] =>
  partsOf(rows, rowsPerStatement[kind]);

/** The rows of a call as a table. Each has an identifier that it gets if it becomes a new entry. */
export const inputRows = `
  SELECT * FROM unnest($newIds::text[], ${valueArrayParameters}, ${keepArrayParameters})
    AS i("newId", ${valueColumnList}, ${keepColumnList})`;

/** The parameters of `inputRows`, with identifiers for new entries. */
export const inputParameters = (entries: readonly WhitelistEntryValues[]) => ({
  newIds: entries.map(() => newId()),
  ...valueArrays(entries),
});

/** How a row is handled whose plate the location already has. */
const onTakenPlate = {
  skip: 'DO NOTHING',
  update: `
  DO UPDATE SET ${mergedAssignments}, version = w.version + 1, "updatedAt" = now()
  WHERE ${isMergeChange}`,
};

/**
 * Writes the rows of a table `input` to the location of a table `reached`, and returns the identifiers of the entries
 * that are new or changed. The unique constraint detects existing plates, so nothing is read first.
 */
export const writeRows = (takenPlate: keyof typeof onTakenPlate) => `
  INSERT INTO "WhitelistEntry" AS w (id, "locationId", ${valueColumnList})
  SELECT i."newId", reached.id, ${valueColumnsOf('i')} FROM reached, input i
  ON CONFLICT ("locationId", ${plateColumnList()}) ${onTakenPlate[takenPlate]}
  RETURNING w.id, w.id IN (SELECT "newId" FROM input) AS "isNew"`;
