import { parse } from 'csv-parse/browser/esm/sync';
import { stringify } from 'csv-stringify/browser/esm/sync';
import type { EntryFieldsFragment, WhitelistEntryInput } from './generated/operations.ts';

/** The columns of a whitelist file. The commands `pms import` and `pms export` also have a column for hours. */
const columns = [
  ...['referenceId', 'plateType', 'plateCode', 'plateNumber', 'vehicleType', 'note'],
  ...['validFrom', 'validUntil', 'maxEntries'],
] as const;

/** A row that the gateway rejected, with its position in the file. */
export interface RejectedRow {
  /** The number of the row in the file, starting at 1, without the header. */
  row: number;
  entry: WhitelistEntryInput;
  field: string;
  message: string;
  value: string;
}

type CsvRow = Record<string, string>;

function entryOf(row: CsvRow): WhitelistEntryInput {
  const { referenceId = '', plateType = '', plateCode = '', plateNumber = '', maxEntries } = row;
  const optional = (name: string) => row[name] || null;
  return {
    referenceId,
    plateType,
    plateCode,
    plateNumber,
    vehicleType: optional('vehicleType'),
    note: optional('note'),
    validFrom: optional('validFrom'),
    validUntil: optional('validUntil'),
    // If the file does not have this column, the limit of entries stays unchanged.
    ...(maxEntries !== undefined && { maxEntries: maxEntries === '' ? null : Number(maxEntries) }),
  };
}

/**
 * Reads the rows of a CSV file (RFC 4180) with a header.
 *
 * @throws {Error} for an invalid file, with the number of the line
 */
export function readEntries(text: string): WhitelistEntryInput[] {
  const rows: CsvRow[] = parse(text, { bom: true, columns: true, skip_empty_lines: true });
  return rows.map(entryOf);
}

/** Formats entries as a CSV file that can be imported again. */
export const entriesFile = (entries: readonly EntryFieldsFragment[]): string =>
  stringify([...entries], { header: true, columns: [...columns] });

/** Formats rejected rows as a CSV file that can be corrected and imported. */
export const rejectsFile = (rejects: readonly RejectedRow[]): string =>
  stringify(
    rejects.map(({ entry, row, field, message, value }) => ({ ...entry, row, field, message, value })),
    { header: true, columns: [...columns, 'row', 'field', 'message', 'value'] },
  );

/** Lets the user save a text as a file from the browser. */
export function saveFile(name: string, content: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
