import { type CsvError, type Info, parse } from 'csv-parse';
import { type Stringifier, stringify } from 'csv-stringify';
import { exitCode, Failure } from './failure.ts';
import type { EntryFieldsFragment, WhitelistEntryInput } from './generated/operations.ts';
import { hoursForm, hoursText, parseHours } from './hours-text.ts';

const required = ['referenceId', 'plateType', 'plateCode', 'plateNumber'] as const;
const optional = ['vehicleType', 'note', 'validFrom', 'validUntil'] as const;

/**
 * If a file does not have one of these columns, the values in the whitelist stay unchanged. An empty field removes the
 * value.
 */
const kept = ['hours', 'maxEntries'] as const;

/** The columns of a whitelist file, in the order of an export. */
export const entryColumns = [...required, ...optional, ...kept] as const;

/**
 * The additional columns in a file of rejected rows. An import ignores them, so that users can correct the file and
 * import it.
 */
export const rejectionColumns = ['line', 'field', 'code', 'message', 'value'] as const;

/** A row of a file, with the number of its line. */
export interface Row {
  line: number;
  /** The fields of the row as texts, before parsing. */
  fields: Record<string, string | null>;
  /** The entry in the row. Hours and numbers are missing if they are malformed. */
  entry: WhitelistEntryInput;
  /** The malformed field and what is wrong with it; undefined when all fields are well-formed. */
  fault?: { field: string; message: string; value: string } | undefined;
}

/** The functions that parse hours and numbers. An empty field becomes null. */
const readKept = {
  hours: (text: string) => parseHours(text),
  maxEntries: (text: string) => {
    if (!/^\d{1,9}$/.test(text)) throw new TypeError('Must be a whole number');
    return Number(text);
  },
} satisfies Record<(typeof kept)[number], (text: string) => unknown>;

/** Converts a CSV record to a row. */
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

/** Converts an entry to the fields of a CSV row. */
export const fieldsOf = (entry: EntryFieldsFragment) => ({
  ...entry,
  hours: entry.hours.length > 0 ? hoursText(entry.hours) : null,
});

/** Characters that other programs write instead of commas, with their names. */
const otherDelimiters = { ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/** Checks that the header has all required columns and no unknown columns. */
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

/** Creates the failure for an error in a file. The message has the line number from csv-parse. */
function faultOf(error: CsvError | Failure | NodeJS.ErrnoException): Failure {
  if (error instanceof Failure) return error;
  if (!('lines' in error)) return new Failure(error.message, exitCode.usage);
  return new Failure(`Line ${error.lines}: ${error.message}`, exitCode.usage);
}

/**
 * Reads a whitelist from CSV (RFC 4180, with or without a byte order mark, with any line ending). In an optional
 * column, an empty field is null, and empty quotes are an empty text. Spaces around values are kept.
 *
 * @param name the name of the file in messages
 * @throws {Failure} when the file is empty or invalid, with the number of the line
 */
export async function* readRows(file: NodeJS.ReadableStream, name: string): AsyncGenerator<Row> {
  let hasHeader = false;
  const parser = file.pipe(
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
  file.on('error', (error) => parser.destroy(error));
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
  /** Whether texts that a spreadsheet would read as a formula get an apostrophe in front. */
  safeCsv?: boolean | undefined;
}

/**
 * Creates a writer of CSV rows. null becomes an empty field, and an empty text becomes empty quotes. `readRows` returns
 * the same values, unless `safeCsv` is set.
 */
export function createCsvWriter(columns: readonly string[], { safeCsv = false }: CsvOptions): Stringifier {
  return stringify({
    header: true,
    escape_formulas: safeCsv,
    columns: [...columns],
    cast: { string: (value) => ({ value, quoted_empty: true }) },
  });
}
