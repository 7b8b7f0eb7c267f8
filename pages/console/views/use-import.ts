import { useEffect, useRef, useState } from 'react';
import { ImportEntriesDocument, type ImportMode, type WhitelistEntryInput } from '../generated/operations.ts';
import type { RejectedRow } from '../csv.ts';
import type { Failure } from '../graph/failure.ts';
import { useChange } from '../graph/use-change.ts';

/** The number of rows that one import request contains. Importing 1,000 rows costs one rate limit point. */
const rowsPerRequest = 1000;

/** The progress and the current results of an import or a dry run. */
export interface ImportProgress {
  rows: number;
  done: number;
  created: number;
  updated: number;
  unchanged: number;
  rejects: RejectedRow[];
}

const noResults: Omit<ImportProgress, 'rows'> = {
  done: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  rejects: [],
};

/**
 * Sends the rows of an import or a dry run in several requests, and adds up the results. After the dialog has closed,
 * the import sends no further request.
 */
export function useImport(locationId: string): {
  progress: ImportProgress | undefined;
  failure: Failure | undefined;
  /**
   * Removes the results, and stops a running import or dry run. The returned function returns `false` after the next
   * call of `reset` or after the dialog has closed, and `true` before.
   */
  reset(): () => boolean;
  /**
   * Sends the rows. The promise resolves with true if all requests succeed before `reset` is called or the dialog
   * closes.
   *
   * @param stopped the progress of an earlier import that stopped; the new import skips the rows that the earlier
   *   import has sent successfully
   */
  run(
    entries: readonly WhitelistEntryInput[],
    mode: ImportMode,
    dryRun: boolean,
    stopped?: ImportProgress,
  ): Promise<boolean>;
} {
  const importing = useChange(ImportEntriesDocument);
  const [progress, setProgress] = useState<ImportProgress>();
  const resets = useRef(0);
  useEffect(() => () => void (resets.current += 1), []);

  /**
   * Returns a function that checks whether the current results are still valid. The results are valid until `reset` is
   * called or the dialog closes.
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

  async function run(
    entries: readonly WhitelistEntryInput[],
    mode: ImportMode,
    dryRun: boolean,
    stopped?: ImportProgress,
  ) {
    const sums = { rows: entries.length, ...(stopped ?? noResults) };
    const rejects = [...sums.rejects];
    const isCurrent = currentCheck();
    importing.clear();
    setProgress({ ...sums, rejects });
    for (let start = sums.done; start < entries.length; start += rowsPerRequest) {
      const part = entries.slice(start, start + rowsPerRequest);
      const data = await importing.send({ locationId, entries: part, mode, dryRun });
      const result = data?.importWhitelistEntries;
      if (!result || !isCurrent()) return false;
      sums.done += part.length;
      sums.created += result.created;
      sums.updated += result.updated;
      sums.unchanged += result.unchanged;
      for (const { index, error } of result.rows) {
        if (!error) continue;
        const { field, message, value } = error;
        const row = start + index + 1;
        rejects.push({ row, entry: part[index]!, field: field ?? '', message, value: String(value ?? '') });
      }
      setProgress({ ...sums, rejects: [...rejects] });
    }
    return true;
  }

  return { progress, failure: importing.failure, reset, run };
}
