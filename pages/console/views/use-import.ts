import { useEffect, useRef, useState } from 'react';
import {
  type ImportEntriesMutation,
  ImportEntriesDocument,
  type ImportMode,
} from '../generated/operations.ts';
import { type CsvRow, type RejectedRow, rowsOfRequest } from '../csv.ts';
import type { Failure } from '../graph/failure.ts';
import { useChange } from '../graph/use-change.ts';
import { texts } from '../texts.ts';

/** The progress of an import or dry run, and its results so far. */
export interface ImportProgress {
  rows: number;
  done: number;
  created: number;
  updated: number;
  unchanged: number;
  rejects: RejectedRow[];
  /**
   * For each plate in the valid rows so far, the number of the first valid row with this plate.
   */
  rowOfPlate: ReadonlyMap<string, number>;
}

/**
 * The result for a part of the import file if the console has rejected every row in this part. If the console has
 * rejected every row of a part of the import file, it sends no request for this part.
 */
const nothingSent = { created: 0, updated: 0, unchanged: 0, rows: [] };

const noResults: Omit<ImportProgress, 'rows' | 'rowOfPlate'> = {
  done: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  rejects: [],
};

type RowError = NonNullable<ImportEntriesMutation['importWhitelistEntries']>['rows'][number]['error'];

const plateOf = ({ entry: { plateType, plateCode, plateNumber } }: CsvRow) =>
  JSON.stringify([plateType, plateCode, plateNumber]);

/**
 * Returns the reason why a row of an import is rejected, or `undefined` if the row is not rejected. The gateway finds
 * repeated plates only within one import request, and a long file needs several requests. The function therefore looks
 * in `rowOfPlate` for an earlier row with the same plate. If the row is valid, the function adds its plate to
 * `rowOfPlate`. A row repeats a plate only if an earlier row with the same plate was valid. The gateway follows the
 * same rule.
 *
 * @param error the error that the gateway returned for the row
 */
function rejectionOf(row: CsvRow, error: RowError | undefined, rowOfPlate: Map<string, number>) {
  if (row.fault) return row.fault;
  if (error && error.code !== 'DUPLICATE_VEHICLE') return error;
  const plate = plateOf(row);
  const earlier = rowOfPlate.get(plate);
  if (earlier !== undefined) return { field: '', message: texts.csv.samePlate(earlier), value: '' };
  rowOfPlate.set(plate, row.row);
  return error;
}

/**
 * Sends the rows of an import or a dry run in several requests, and adds up the results. After the dialog has closed,
 * the function sends no more import requests.
 */
export function useImport(locationId: string): {
  progress: ImportProgress | undefined;
  failure: Failure | undefined;
  /**
   * Removes the results of the last import or dry run from the dialog, and stops an import or dry run that is still
   * running. Returns a function that tells the caller whether the dialog may still show the results of the caller's
   * import. The returned function returns `true` until `reset` is called again or the dialog closes.
   */
  reset(): () => boolean;
  /**
   * Sends the rows of the import, except the rows that the console itself rejects. The promise resolves with true if
   * all requests succeed before `reset` is called and before the dialog closes.
   *
   * @param stopped the progress of an earlier import that stopped; the new import skips the rows that the earlier
   *   import has sent successfully
   */
  run(rows: readonly CsvRow[], mode: ImportMode, dryRun: boolean, stopped?: ImportProgress): Promise<boolean>;
} {
  const importing = useChange(ImportEntriesDocument);
  const [progress, setProgress] = useState<ImportProgress>();
  const resets = useRef(0);
  useEffect(() => () => void (resets.current += 1), []);

  /**
   * Returns a function that checks whether the results of an import may still be shown. The console may show the
   * results of an import until `reset` is called or the dialog closes.
   */
  function currentCheck() {
    const before = resets.current;
    return () => resets.current === before;
  }

  function reset() {
    resets.current += 1;
    importing.clear();
    setProgress(undefined);
    return currentCheck();
  }

  async function run(rows: readonly CsvRow[], mode: ImportMode, dryRun: boolean, stopped?: ImportProgress) {
    const rowOfPlate = new Map(stopped?.rowOfPlate);
    const sums = { rows: rows.length, ...(stopped ?? noResults), rowOfPlate };
    const rejects = [...sums.rejects];
    const isCurrent = currentCheck();
    importing.clear();
    setProgress({ ...sums, rejects });
    while (sums.done < rows.length) {
      const part = rowsOfRequest(rows, sums.done);
      const sent = part.filter((row) => !row.fault && !rowOfPlate.has(plateOf(row)));
      const entries = sent.map(({ entry }) => entry);
      const result =
        sent.length === 0
          ? nothingSent
          : (await importing.send({ locationId, entries, mode, dryRun }))?.importWhitelistEntries;
      if (!result || !isCurrent()) return false;
      sums.done += part.length;
      sums.created += result.created;
      sums.updated += result.updated;
      sums.unchanged += result.unchanged;
      const errors = new Map(result.rows.map(({ index, error }) => [sent[index], error]));
      for (const each of part) {
        const rejection = rejectionOf(each, errors.get(each), rowOfPlate);
        if (!rejection) continue;
        const { field, message, value } = rejection;
        const { row, fields } = each;
        rejects.push({ row, fields, field: field ?? '', message, value: String(value ?? '') });
      }
      setProgress({ ...sums, rejects: [...rejects] });
    }
    return true;
  }

  return { progress, failure: importing.failure, reset, run };
}
