import { type CsvError, type Info, parse } from 'csv-parse';
import { type Stringifier, stringify } from 'csv-stringify';
import { exitCode, Failure } from './failure.ts';
import type { EntryFieldsFragment, WhitelistEntryInput } from './generated/operations.ts';
import { hoursForm, hoursText, parseHours } from './hours-text.ts';

const required = ['referenceId', 'plateType', 'plateCode', 'plateNumber'] as const;
const optional = ['vehicleType', 'note', 'validFrom', 'validUntil'] as const;

/** A column that a file has not leaves these values as they are; an empty field takes them away. */
const kept = ['hours', 'maxEntries'] as const;

/** The columns of a whitelist's file, in the order in which they are written. */
export const entryColumns = [...required, ...optional, ...kept] as const;

/** What a file of rejected rows has besides; a corrected one may be imported as it is. */
export const rejectionColumns = ['line', 'field', 'code', 'message', 'value'] as const;

/** A row of a file, and where it stands. */
export interface Row {
  line: number;
  /** What the file says. */
  fields: Record<string, string | null>;
  /** The entry that it means; of hours and numbers, what can be read. */
  entry: WhitelistEntryInput;
  /** Which field cannot be read, and why. */
  fault?: { field: string; message: string; value: string } | undefined;
}

/** Reads a field of hours or of a number; an empty one is null. */
const readKept = {
  hours: (text: string) => parseHours(text),
  maxEntries: (text: string) => {
    if (!/^\d{1,9}$/.test(text)) throw new TypeError('Must be a whole number');
    return Number(text);
  },
} satisfies Record<(typeof kept)[number], (text: string) => unknown>;

/** The row of a record, whose columns the header has named. */
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

/** An entry as a row of a file. */
export const fieldsOf = (entry: EntryFieldsFragment) => ({
  ...entry,
  hours: entry.hours.length > 0 ? hoursText(entry.hours) : null,
});

/** What other programs put between columns, in words. */
const otherDelimiters = { ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/** The header of a file, if it has the columns that an import needs and no others. */
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
      `Line 1: unknown column ${unknown.join(', ')}; known are ${entryColumns.join(', ')}`,
      exitCode.usage,
    );
  }
  return names;
}

/** The fault of a file in words: csv-parse counts the lines. */
function faultOf(error: CsvError | Failure | NodeJS.ErrnoException): Failure {
  if (error instanceof Failure) return error;
  if (!('lines' in error)) return new Failure(error.message, exitCode.usage);
  return new Failure(`Line ${error.lines}: ${error.message}`, exitCode.usage);
}

/**
 * Reads a whitelist from CSV (RFC 4180, with or without a byte order mark, with either line ending). An empty
 * field of an optional column is null, a quoted empty one is an empty text; nothing is trimmed.
 *
 * @param name what to call the file in messages
 * @throws {Failure} when the file is empty or is not such a CSV, with the line
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

/** Writes rows as CSV that `readRows` reads back unchanged: null as an empty field, an empty text in quotes. */
export function createCsvWriter(columns: readonly string[]): Stringifier {
  return stringify({
    header: true,
    columns: [...columns],
    cast: { string: (value) => ({ value, quoted_empty: true }) },
  });
}
