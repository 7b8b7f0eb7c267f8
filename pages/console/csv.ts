import { CsvError, parse } from 'csv-parse/browser/esm/sync';
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
 * The columns that the console adds to the whitelist columns in a CSV file with rejected rows. An import ignores these
 * additional columns, so users can correct the rejected rows and import the same file.
 */
const rejectionColumns = ['row', 'field', 'message', 'value'] as const;

/** The texts of one row of a CSV file. The keys of this object are the column names. */
type CsvFields = Record<string, string>;

/** The reason why a row of the CSV file is rejected, with the name and the value of the invalid field. */
interface RowFault {
  field: string;
  message: string;
  value: string;
}

/** A row of a CSV file, with its position in the file. */
export interface CsvRow {
  /** The number of the row in the file, where 1 is the first row after the header. */
  row: number;
  fields: CsvFields;
  /**
   * The whitelist entry that the row describes. If the field `maxEntries` is malformed, `entry` does not contain this
   * field.
   */
  entry: WhitelistEntryInput;
  /**
   * The first malformed field of the row, and what is wrong with it. The console does not send a row with a malformed
   * field.
   */
  fault: RowFault | undefined;
}

/** A row that the console or the gateway rejected. */
export type RejectedRow = Pick<CsvRow, 'row' | 'fields'> & RowFault;

/** Matches the delimiters that some programs write into CSV files instead of commas. */
const otherDelimiter = /[;\t|]/;

/** Checks that the header of a CSV file contains each column only once, and only columns that the console knows. */
function checkHeader(names: string[]): string[] {
  const [delimiter] = (names.length === 1 && otherDelimiter.exec(names[0]!)) || [];
  if (delimiter) throw new Error(words.wrongDelimiter(JSON.stringify(delimiter)));
  const unnamed = names.indexOf('');
  if (unnamed >= 0) throw new Error(words.unnamedColumn(unnamed + 1));
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Error(words.repeatedColumn(repeated));
  const known: readonly string[] = [...columns, ...rejectionColumns];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(words.unknownColumn(unknown.join(', '), columns.join(', ')));
  return names;
}

// The rules in this file for `maxEntries` and for times are the same as in the command `pms import`. The console must
// not send a malformed field: because of one malformed field, the gateway would reject all rows of the GraphQL request.

/** The maximum value of `maxEntries`. */
const largestMaxEntries = 2_147_483_647;

/**
 * The maximum length of a text in a request (docs/rate-limits.md). The limit counts the characters that the text has in
 * JSON, including the quotation marks and the escape characters.
 */
const maxTextCharacters = 32_768;

/** The maximum number of rows in one import request. Importing 1,000 rows costs one rate limit point. */
const maxRequestRows = 1000;

/**
 * The maximum size of all rows in an import request, in bytes of JSON. The maximum is less than the 16 MiB that the
 * gateway accepts for a request body (docs/rate-limits.md), because the body also contains the GraphQL operation.
 */
const maxRequestBytes = 15 * 1024 * 1024;

/** Returns the reason why a text is not a valid value of `maxEntries`, or `undefined` if the text is valid. */
function numberFault(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return words.notWhole;
  return Number(text) > largestMaxEntries ? words.atMost(largestMaxEntries) : undefined;
}

/**
 * Matches an ISO 8601 date and time with a UTC offset. The seconds of the time are optional, and may have a fraction.
 */
const isoInstant =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Returns the reason why a text is not a valid date and time, or `undefined` if the text is valid. */
function instantFault(text: string): string | undefined {
  const [, day] = isoInstant.exec(text) ?? [];
  const midnight = new Date(`${day}T00:00Z`);
  // `Date` converts a day that does not exist, such as 30 February, to another day.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day)
    return words.notInstant;
  const at = new Date(text);
  return at.getTime() < 0 || at.getUTCFullYear() > 9999 ? words.notInYears : undefined;
}

/** Returns a description of the first malformed field of a row, or `undefined` if all fields are well-formed. */
function malformed(fields: CsvFields): RowFault | undefined {
  const { maxEntries } = fields;
  const message = maxEntries ? numberFault(maxEntries) : undefined;
  if (maxEntries && message) return { field: 'maxEntries', message, value: maxEntries };
  for (const field of ['validFrom', 'validUntil'] as const) {
    const value = fields[field];
    const message = value ? instantFault(value) : undefined;
    if (value && message) return { field, message, value };
  }
  const field = columns.find((name) => JSON.stringify(fields[name] ?? '').length > maxTextCharacters);
  return field && { field, message: words.tooLong(maxTextCharacters), value: '' };
}

function entryOf(fields: CsvFields): WhitelistEntryInput {
  const { referenceId = '', plateType = '', plateCode = '', plateNumber = '', maxEntries } = fields;
  const optional = (name: string) => fields[name] || null;
  return {
    referenceId,
    plateType,
    plateCode,
    plateNumber,
    vehicleType: optional('vehicleType'),
    note: optional('note'),
    validFrom: optional('validFrom'),
    validUntil: optional('validUntil'),
    // If the CSV file has no column `maxEntries`, an import leaves the field `maxEntries` of the whitelist entries
    // unchanged. If the column `maxEntries` exists and the field of a row is empty, the vehicle may enter any number of
    // times.
    ...(maxEntries === '' && { maxEntries: null }),
    ...(maxEntries && !numberFault(maxEntries) && { maxEntries: Number(maxEntries) }),
  };
}

/**
 * Decodes a file as UTF-8, and throws an error if the file is not valid UTF-8. The function does not replace invalid
 * bytes with the character U+FFFD, because an import would then write this character into references and notes.
 */
function textOf(file: BufferSource): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    throw new Error(words.notUtf8);
  }
}

/**
 * Converts an error of the CSV parser to an error for the user.
 *
 * @param lastLine the line number of the last field that the parser has read completely
 */
function faultOf(error: unknown, lastLine: number): unknown {
  if (!(error instanceof CsvError)) return error;
  // The parser detects a missing closing quotation mark only at the end of the file, which can be thousands of lines
  // after the opening quotation mark.
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return new Error(words.openQuote(lastLine));
  // If any other character than a comma follows the quotation mark after the first column name, the CSV file may use
  // another delimiter.
  const [, delimiter = ''] = /got "(.)" at line 1 /.exec(error.message) ?? [];
  return otherDelimiter.test(delimiter) ? new Error(words.wrongDelimiter(JSON.stringify(delimiter))) : error;
}

/**
 * Reads the rows of a CSV file (RFC 4180) with a header.
 *
 * @throws {Error} when the file is not valid UTF-8 or not valid CSV, or when a column is repeated or unknown. If one
 *   line of the file is faulty, the error message contains the number of the line.
 */
export function readRows(file: BufferSource): CsvRow[] {
  const text = textOf(file);
  let lastLine = 1;
  let rows: CsvFields[];
  try {
    rows = parse(text, {
      bom: true,
      columns: checkHeader,
      skip_empty_lines: true,
      // Without the option `record_delimiter`, the CSV parser would expect the line ending of the first line (such as
      // `\r\n`) in all lines.
      record_delimiter: ['\r\n', '\n', '\r'],
      cast(value, { lines }) {
        lastLine = lines;
        return value;
      },
    });
  } catch (error) {
    throw faultOf(error, lastLine);
  }
  return rows.map((fields, index) => ({
    row: index + 1,
    fields,
    entry: entryOf(fields),
    fault: malformed(fields),
  }));
}

/**
 * Returns the rows for the next import request; the first of these rows has the index `start`. If `maxRequestRows` rows
 * are too large for one request, the function returns fewer rows. A single row is never too large for a request,
 * because the console sends no text of more than `maxTextCharacters` characters.
 */
export function rowsOfRequest(rows: readonly CsvRow[], start: number): readonly CsvRow[] {
  const part = rows.slice(start, start + maxRequestRows);
  let bytes = 0;
  const tooMany = part.findIndex(({ entry, fault }) => {
    // The console does not send a row with a malformed field. The size of each row includes one byte for the comma
    // between two rows of the request.
    if (!fault) bytes += new TextEncoder().encode(JSON.stringify(entry)).length + 1;
    return bytes > maxRequestBytes;
  });
  return tooMany < 0 ? part : part.slice(0, tooMany);
}

/** Formats whitelist entries as a CSV file that can be imported again. */
export const entriesFile = (entries: readonly EntryFieldsFragment[]): string =>
  stringify([...entries], { header: true, columns: [...columns] });

/** Formats the rejected rows as a CSV file that the user can correct and import. */
export const rejectsFile = (rejects: readonly RejectedRow[]): string =>
  stringify(
    rejects.map(({ fields, ...rejection }) => ({ ...fields, ...rejection })),
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
