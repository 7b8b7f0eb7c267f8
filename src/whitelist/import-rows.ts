import { partsOf } from '../database/parts.ts';
import type { Database } from '../database/types.ts';
import { newId } from '../ids.ts';
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
} from './columns.ts';

// What the statements of imports have in common.

/** What an import does with rows whose plate the location has, and with entries that no row has. */
export type MergeMode = 'CREATE' | 'UPSERT' | 'REPLACE';

/** What an import of some rows did, or would do. */
export interface MergeResult {
  /** For each row, in their order, whether it is a new entry. */
  isNew: boolean[];
  /** How many rows changed an entry. */
  updated: number;
  /** How many entries REPLACE removed. */
  deleted: number;
}

/** How many rows one statement takes. The embedded database does one thing at a time: gates wait for the statement that runs. */
export const rowsPerStatement: Record<Database['kind'], number> = { postgresql: 2_500, embedded: 250 };

/** Rows in the parts that one statement takes each. */
export const statementParts = <Row>(rows: readonly Row[], kind: Database['kind']): Row[][] =>
  partsOf(rows, rowsPerStatement[kind]);

/** The rows of a call as a table of a statement, each with the identifier that it has if it is a new entry. */
export const inputRows = `
  SELECT * FROM unnest($newIds::text[], ${valueArrayParameters}, ${keepArrayParameters})
    AS i("newId", ${valueColumnList}, ${keepColumnList})`;

/** The parameters of `inputRows`, with the identifiers of new entries. */
export const inputParameters = (entries: readonly WhitelistEntryValues[]) => ({
  newIds: entries.map(() => newId()),
  ...valueArrays(entries),
});

/** What is done with a row whose plate the location has. */
const onTakenPlate = {
  skip: 'DO NOTHING',
  update: `
  DO UPDATE SET ${mergedAssignments}, version = w.version + 1, "updatedAt" = now()
  WHERE ${isMergeChange}`,
};

/**
 * Writes the rows of a table `input` to the location of a table `reached`, and gives the identifiers of the entries that
 * are new or changed. The unique constraint decides which plates the location has; nothing is read before.
 */
export const writeRows = (takenPlate: keyof typeof onTakenPlate) => `
  INSERT INTO "WhitelistEntry" AS w (id, "locationId", ${valueColumnList})
  SELECT i."newId", reached.id, ${valueColumnsOf('i')} FROM reached, input i
  ON CONFLICT ("locationId", ${plateColumnList()}) ${onTakenPlate[takenPlate]}
  RETURNING w.id, w.id IN (SELECT "newId" FROM input) AS "isNew"`;
