import { parse } from 'csv-parse/browser/esm/sync';
import { stringify } from 'csv-stringify/browser/esm/sync';
import type { EntryFieldsFragment, WhitelistEntryInput } from './generated/operations.ts';
import { texts } from './texts.ts';

const { csv: words } = texts;

/**
 * The columns of a CSV file that contains a whitelist. The CSV files of the commands `pms import` and `pms export` also
 * have a column for the weekly hours.
 */
const columns = [
  ...['referenceId', 'plateType', 'plateCode', 'plateNumber', 'vehicleType', 'note'],
  ...['validFrom', 'validUntil', 'maxEntries'],
] as const;

/**
 * The additional columns of a CSV file with rejected rows. An import ignores the additional columns, so users can
 * correct the rejected rows and import the file again.
 */
const rejectionColumns = ['row', 'field', 'message', 'value'] as const;

/** A row that the gateway rejected, with its position in the file. */
export interface RejectedRow {
  /** The number of the row in the file, where 1 is the first row after the header. */
  row: number;
  entry: WhitelistEntryInput;
  field: string;
  message: string;
  value: string;
}

type CsvRow = Record<string, string>;

/** Checks that the header of a CSV file has no repeated and no unknown columns. */
function checkHeader(names: string[]): string[] {
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(words.repeatedColumn(repeated));
  const known: readonly string[] = [...columns, ...rejectionColumns];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(words.unknownColumn(unknown.join(', '), columns.join(', ')));
  return names;
}

/**
 * Parses the field `maxEntries` of a row in a CSV file. If the field is empty, the vehicle may enter any number of
 * times.
 */
function maxEntriesOf(text: string, row: number): number | null {
  if (text === '') return null;
  // The command `pms import` has the same rule: `maxEntries` must be a whole number with at most nine digits.
  if (!/^\d{1,9}$/.test(text)) throw new Error(words.notWhole(row, 'maxEntries', text));
  return Number(text);
}

function entryOf(row: CsvRow, index: number): WhitelistEntryInput {
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
    // If the CSV file has no column `maxEntries`, the import does not change how many times the vehicles may enter.
    ...(maxEntries !== undefined && { maxEntries: maxEntriesOf(maxEntries, index + 1) }),
  };
}

/**
 * Decodes a file as UTF-8, and throws an error if the file is not valid UTF-8. If the function replaced invalid bytes
 * by replacement characters, an import would overwrite names and notes with these characters.
 */
function textOf(file: BufferSource): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    throw new Error(words.notUtf8);
  }
}

/**
 * Reads the rows of a CSV file (RFC 4180) with a header.
 *
 * @throws {Error} when the file is not valid UTF-8 or not valid CSV, when a column is repeated or unknown, or when a
 *   `maxEntries` is malformed. If one line or row is faulty, the error message contains the number of the line or row.
 */
export function readEntries(file: BufferSource): WhitelistEntryInput[] {
  const text = textOf(file);
  const rows: CsvRow[] = parse(text, { bom: true, columns: checkHeader, skip_empty_lines: true });
  return rows.map(entryOf);
}

/** Formats whitelist entries as a CSV file that can be imported again. */
export const entriesFile = (entries: readonly EntryFieldsFragment[]): string =>
  stringify([...entries], { header: true, columns: [...columns] });

/** Formats the rejected rows as a CSV file that the user can correct and import. */
export const rejectsFile = (rejects: readonly RejectedRow[]): string =>
  stringify(
    rejects.map(({ entry, row, field, message, value }) => ({ ...entry, row, field, message, value })),
    { header: true, columns: [...columns, ...rejectionColumns] },
  );

/** Saves a text as a file in the download folder of the browser. */
export function saveFile(name: string, content: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type: 'text/csv' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
