import { Readable } from 'node:stream';
import { type CsvError, type Info, parse } from 'csv-parse';
import { type Stringifier, stringify } from 'csv-stringify';
import { exitCode, Failure } from './failure.ts';
import type { EntryFieldsFragment, WhitelistEntryInput } from './generated/operations.ts';
import { hoursForm, hoursText, parseHours } from './hours-text.ts';

const required = ['referenceId', 'plateType', 'plateCode', 'plateNumber'] as const;
const optional = ['vehicleType', 'note', 'validFrom', 'validUntil'] as const;

/**
 * If a CSV file has no column `hours` or `maxEntries`, an import keeps the values in the whitelist. An empty field in
 * the column `hours` or `maxEntries` deletes the value in the whitelist.
 */
const kept = ['hours', 'maxEntries'] as const;

/** The columns of a CSV file with a whitelist, in the order in which an export writes the columns. */
export const entryColumns = [...required, ...optional, ...kept] as const;

/**
 * The columns that only a file of rejected rows has. An import ignores the columns in `rejectionColumns`, so that users
 * can correct the rejected rows and import the file again.
 */
export const rejectionColumns = ['line', 'field', 'code', 'message', 'value'] as const;

/** A row of a CSV file, with its line number. */
export interface Row {
  line: number;
  /** The fields of the row as texts, before they are parsed. */
  fields: Record<string, string | null>;
  /**
   * The whitelist entry that the row describes. `entry` omits the fields `hours` and `maxEntries` if they are malformed
   * in the row.
   */
  entry: WhitelistEntryInput;
  /**
   * The name and the value of the first malformed field, with an error message; `undefined` if no field is malformed.
   */
  fault?: { field: string; message: string; value: string } | undefined;
}

/**
 * The functions that parse the fields `hours` and `maxEntries`. An empty field of the CSV file means null, and is not
 * parsed.
 */
const readKept = {
  hours: (text: string) => parseHours(text),
  maxEntries: (text: string) => {
    if (!/^\d{1,9}$/.test(text)) throw new TypeError('Must be a whole number');
    return Number(text);
  },
} satisfies Record<(typeof kept)[number], (text: string) => unknown>;

/** Converts a record from the CSV parser to a row of a whitelist. */
function rowOf(record: Record<string, string | null>, line: number): Row {
  let fault: Row['fault'];
  const read = kept.flatMap((name) => {
    const text = record[name];
    if (text === undefined) return [];
    try {
      return [[name, text === null || text === '' ? null : readKept[name](text)]];
    } catch {
      const message = name === 'hours' ? `Must be hours such as ${hoursForm}` : 'Must be a whole number';
      fault ??= { field: name, message, value: text ?? '' };
      return [];
    }
  });
  const entry = Object.fromEntries([
    ...required.map((name) => [name, record[name] ?? '']),
    ...optional.map((name) => [name, record[name] ?? null]),
    ...read,
  ]) as WhitelistEntryInput;
  return { line, fields: record, entry, fault };
}

/** Converts a whitelist entry to the fields of a CSV row. */
export const fieldsOf = (entry: EntryFieldsFragment) => ({
  ...entry,
  hours: entry.hours.length > 0 ? hoursText(entry.hours) : null,
});

/** Delimiters that some programs write into CSV files instead of commas, with their names for error messages. */
const otherDelimiters = { ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/** Checks that the header of a CSV file has all required columns, and no repeated or unknown columns. */
function checkHeader(names: string[]): string[] {
  const [only = ''] = names.length === 1 ? names : [];
  for (const [delimiter, words] of Object.entries(otherDelimiters)) {
    if (!only.includes(delimiter)) continue;
    throw new Failure(
      `Line 1: the columns are separated by ${words} (${JSON.stringify(delimiter)}); they must be separated by commas`,
      exitCode.usage,
    );
  }
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new Failure(`Line 1: the column ${missing.join(', ')} is missing`, exitCode.usage);
  }
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Failure(`Line 1: the column ${repeated} is repeated`, exitCode.usage);
  const known: readonly string[] = [...entryColumns, ...rejectionColumns];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Failure(
      `Line 1: unknown column ${unknown.join(', ')}; the columns may be ${entryColumns.join(', ')}`,
      exitCode.usage,
    );
  }
  return names;
}

/**
 * Converts an error in a CSV file to a `Failure` for the user. If the error comes from the parser csv-parse, the
 * message of the `Failure` contains the line number.
 */
function faultOf(error: CsvError | Failure | NodeJS.ErrnoException): Failure {
  if (error instanceof Failure) return error;
  if (!('lines' in error)) return new Failure(error.message, exitCode.usage);
  return new Failure(`Line ${error.lines}: ${error.message}`, exitCode.usage);
}

/**
 * Yields the text of a file in UTF-8. If the file contains bytes that are not UTF-8, the function throws an error. If
 * the function replaced these bytes, an import would overwrite names and notes with replacement characters.
 *
 * @throws {Failure} when the file is not in UTF-8
 */
async function* textOf(file: NodeJS.ReadableStream, name: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (chunk: Uint8Array, stream: boolean) => {
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      throw new Failure(`${name} is not in UTF-8. Save the file as "CSV UTF-8"`, exitCode.usage);
    }
  };
  for await (const chunk of file) yield decode(Buffer.from(chunk), true);
  yield decode(new Uint8Array(), false);
}

/**
 * Reads a whitelist from CSV (RFC 4180) in UTF-8. The file may start with a byte order mark, and may have any kind of
 * line ending. In an optional column, an empty field is read as null, and empty quotes are read as an empty text.
 * Spaces at the start and end of a CSV field are kept.
 *
 * @param name the name of the file for error messages
 * @throws {Failure} when the file is empty, is not in UTF-8, or is not valid CSV. For invalid CSV, the error message
 *   contains the line number
 */
export async function* readRows(file: NodeJS.ReadableStream, name: string): AsyncGenerator<Row> {
  let hasHeader = false;
  const text = Readable.from(textOf(file, name));
  const parser = text.pipe(
    parse({
      bom: true,
      columns: (names: string[]) => {
        hasHeader = true;
        return checkHeader(names);
      },
      info: true,
      skip_empty_lines: true,
      cast: (value, { quoting, header }) => (value === '' && !quoting && !header ? null : value),
    }),
  );
  text.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: Record<string, string | null>;
      info: Info;
    }>) {
      yield rowOf(record, info.lines);
    }
    if (!hasHeader) {
      const columns = entryColumns.join(',');
      throw new Failure(`${name} is empty: its first line must be ${columns}`, exitCode.usage);
    }
  } catch (error) {
    throw faultOf(error as CsvError | Failure | NodeJS.ErrnoException);
  }
}

/** The options for writing a CSV file. */
export interface CsvOptions {
  /** Whether to write an apostrophe before each text that a spreadsheet program would run as a formula. */
  safeCsv?: boolean | undefined;
}

/**
 * Creates a writer of CSV rows. The writer writes null as an empty field, and an empty text as empty quotes. With the
 * option `safeCsv`, the writer changes values that look like formulas. Without `safeCsv`, `readRows` reads back exactly
 * the written values.
 */
export function createCsvWriter(columns: readonly string[], { safeCsv = false }: CsvOptions): Stringifier {
  return stringify({
    header: true,
    escape_formulas: safeCsv,
    columns: [...columns],
    cast: { string: (value) => ({ value, quoted_empty: true }) },
  });
}
