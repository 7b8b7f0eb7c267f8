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

// This file contains the SQL that several statements of the import use.

/**
 * The mode of an import. It decides about rows whose plate is already in the whitelist, and about entries whose plate
 * is not in the import.
 */
export type MergeMode = 'CREATE' | 'UPSERT' | 'REPLACE';

/** What an import did. For a dry run, it is what the import would do. */
export interface MergeResult {
  /** For each row in order: whether the row became a new entry. */
  isNew: boolean[];
  /** How many rows changed an existing entry. */
  updated: number;
  /** How many entries a REPLACE import removed. */
  deleted: number;
}

/**
 * The maximum number of rows in one SQL statement. The number is smaller for the embedded database, which runs one
 * statement at a time, so that requests of gates have to wait for the statement.
 */
export const rowsPerStatement: Record<Database['kind'], number> = { postgresql: 2_500, embedded: 250 };

/** Splits the imported rows into parts that are small enough for one SQL statement. */
export const statementParts = <Row>(rows: readonly Row[], kind: Database['kind']): Row[][] =>
  partsOf(rows, rowsPerStatement[kind]);

/**
 * SQL that converts the array parameters to a table with the imported rows. Each row has a new identifier, which is
 * used if the row becomes a new entry.
 */
export const inputRows = `
  SELECT * FROM unnest($newIds::text[], ${valueArrayParameters}, ${keepArrayParameters})
    AS i("newId", ${valueColumnList}, ${keepColumnList})`;

/** Returns the parameters of `inputRows`, with a new identifier for each row. */
export const inputParameters = (entries: readonly WhitelistEntryValues[]) => ({
  newIds: entries.map(() => newId()),
  ...valueArrays(entries),
});

/** SQL that says what an import does with a row whose plate is already in the whitelist. */
const onTakenPlate = {
  skip: 'DO NOTHING',
  update: `
  DO UPDATE SET ${mergedAssignments}, version = w.version + 1, "updatedAt" = now()
  WHERE ${isMergeChange}`,
};

/**
 * Returns SQL that writes the rows of the table `input` to the location in the table `reached`, and returns the
 * identifiers of new and changed entries. The unique constraint detects plates that are already in the whitelist, so
 * the statement need not read entries first.
 */
export const writeRows = (takenPlate: keyof typeof onTakenPlate) => `
  INSERT INTO "WhitelistEntry" AS w (id, "locationId", ${valueColumnList})
  SELECT i."newId", reached.id, ${valueColumnsOf('i')} FROM reached, input i
  ON CONFLICT ("locationId", ${plateColumnList()}) ${onTakenPlate[takenPlate]}
  RETURNING w.id, w.id IN (SELECT "newId" FROM input) AS "isNew"`;
