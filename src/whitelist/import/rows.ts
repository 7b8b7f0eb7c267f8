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

// SQL that is part of several statements of a whitelist import.

/**
 * The modes of an import. The import mode decides whether a row changes the existing whitelist entry with the same
 * plate. The import mode also decides whether the import removes whitelist entries whose plates are not in the imported
 * rows.
 */
export const mergeModes = ['CREATE', 'UPSERT', 'REPLACE'] as const;

export type MergeMode = (typeof mergeModes)[number];

/** The changes that an import makes to a whitelist. A dry run returns the changes that the import would make. */
export interface MergeResult {
  /** One value for each imported row, in the order of the rows: true if the row became a new whitelist entry. */
  isNew: boolean[];
  /** The number of imported rows that changed an existing whitelist entry. */
  updated: number;
  /** The number of whitelist entries that an import with the mode REPLACE removed. */
  deleted: number;
}

/**
 * The maximum number of imported rows in one SQL statement. On the embedded database, the maximum number of rows is
 * lower, because a gate request must wait until the running SQL statement ends.
 */
export const rowsPerStatement: Record<Database['kind'], number> = { postgresql: 2_500, embedded: 250 };

/** Splits the imported rows into parts that are small enough for one SQL statement. */
export const statementParts = <Row>(rows: readonly Row[], kind: Database['kind']): Row[][] =>
  partsOf(rows, rowsPerStatement[kind]);

/**
 * SQL that converts the array parameters to a table with the imported rows. Each imported row has a new identifier,
 * which is used only if the row becomes a new whitelist entry.
 */
export const inputRows = `
  SELECT * FROM unnest($newIds::text[], ${valueArrayParameters}, ${keepArrayParameters})
    AS i("newId", ${valueColumnList}, ${keepColumnList})`;

/** The SQL parameters of `inputRows` for the imported rows of one SQL statement. */
export interface InputParameters extends Record<string, unknown[]> {
  newIds: string[];
}

/** Returns the values for the SQL parameters of `inputRows`, with a new identifier for each row. */
export const inputParameters = (entries: readonly WhitelistEntryValues[]): InputParameters => ({
  newIds: entries.map(() => newId()),
  ...valueArrays(entries),
});

/** SQL that defines what an import does with a row whose plate is already in the whitelist. */
const onTakenPlate = {
  skip: 'DO NOTHING',
  update: `
  DO UPDATE SET ${mergedAssignments}, version = w.version + 1, "updatedAt" = now()
  WHERE ${isMergeChange}`,
};

/**
 * Returns an SQL statement that writes the imported rows to the whitelist of a location. The statement reads the rows
 * from the SQL table `input`, and the id of the location from the SQL table `reached`. The statement returns the ids of
 * the whitelist entries that it created or changed. A unique constraint detects plates that are already in the
 * whitelist, so the statement need not read the whitelist entries first.
 */
export const writeRows = (takenPlate: keyof typeof onTakenPlate) => `
  INSERT INTO "WhitelistEntry" AS w (id, "locationId", ${valueColumnList})
  SELECT i."newId", reached.id, ${valueColumnsOf('i')} FROM reached, input i
  ON CONFLICT ("locationId", ${plateColumnList()}) ${onTakenPlate[takenPlate]}
  RETURNING w.id, w.id IN (SELECT "newId" FROM input) AS "isNew"`;
