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

// This file contains the SQL that several import statements share.

/** How an import treats rows whose plate the location already has, and entries whose plate no row has. */
export type MergeMode = 'CREATE' | 'UPSERT' | 'REPLACE';

/** The result of an import. A dry run only predicts the result. */
export interface MergeResult {
  /** Whether each row is a new entry, in the order of the rows. */
  isNew: boolean[];
  /** The number of rows that changed an entry. */
  updated: number;
  /** The number of entries that a REPLACE import removed. */
  deleted: number;
}

/**
 * The maximum number of rows per statement. The number is smaller on the embedded database, because it runs one
 * statement at a time and gates wait for the end of the statement.
 */
export const rowsPerStatement: Record<Database['kind'], number> = { postgresql: 2_500, embedded: 250 };

/** Splits rows into the parts that one statement can take. */
export const statementParts = <Row>(rows: readonly Row[], kind: Database['kind']): Row[][] =>
  partsOf(rows, rowsPerStatement[kind]);

/** SQL for the rows of a call as a table. Each row has an identifier for the case that the row becomes a new entry. */
export const inputRows = `
  SELECT * FROM unnest($newIds::text[], ${valueArrayParameters}, ${keepArrayParameters})
    AS i("newId", ${valueColumnList}, ${keepColumnList})`;

/** Returns the parameters of `inputRows`, with identifiers for new entries. */
export const inputParameters = (entries: readonly WhitelistEntryValues[]) => ({
  newIds: entries.map(() => newId()),
  ...valueArrays(entries),
});

/** SQL for what happens to a row whose plate the location already has. */
const onTakenPlate = {
  skip: 'DO NOTHING',
  update: `
  DO UPDATE SET ${mergedAssignments}, version = w.version + 1, "updatedAt" = now()
  WHERE ${isMergeChange}`,
};

/**
 * Returns SQL that writes the rows of a table `input` to the location of a table `reached`, and returns the identifiers
 * of new and changed entries. The unique constraint detects existing plates, so the statement need not read entries
 * first.
 */
export const writeRows = (takenPlate: keyof typeof onTakenPlate) => `
  INSERT INTO "WhitelistEntry" AS w (id, "locationId", ${valueColumnList})
  SELECT i."newId", reached.id, ${valueColumnsOf('i')} FROM reached, input i
  ON CONFLICT ("locationId", ${plateColumnList()}) ${onTakenPlate[takenPlate]}
  RETURNING w.id, w.id IN (SELECT "newId" FROM input) AS "isNew"`;
