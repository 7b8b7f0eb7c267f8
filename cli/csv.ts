import { Readable } from 'node:stream';
import { type CsvError, type Info, parse } from 'csv-parse';
import { type Options, type Stringifier, stringify } from 'csv-stringify';
import { stringify as stringifySync } from 'csv-stringify/sync';
import { exitCode, Failure } from './failure.ts';
import { type Source, textOf } from './source.ts';

/**
 * Delimiters that some programs use instead of commas, each with its name. Error messages about a CSV file contain the
 * name of the delimiter.
 */
const otherDelimiters = { ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/** The names of the columns that a CSV file may have. */
interface CsvColumns {
  required: readonly string[];
  optional?: readonly string[];
  /** Columns that the CSV file may have, but that the command ignores. */
  ignored?: readonly string[];
}

/** Creates the error for a CSV file whose columns are not separated by commas. */
function wrongDelimiter(delimiter: string): Failure {
  const words = otherDelimiters[delimiter as keyof typeof otherDelimiters];
  return new Failure(
    `Line 1: the columns are separated by ${words} (${JSON.stringify(delimiter)}); they must be separated by commas`,
    exitCode.usage,
  );
}

/** Checks that the header of a CSV file has all required columns, and no repeated or unknown columns. */
function checkHeader(names: string[], { required, optional = [], ignored = [] }: CsvColumns): string[] {
  const [only = ''] = names.length === 1 ? names : [];
  const delimiter = Object.keys(otherDelimiters).find((each) => only.includes(each));
  if (delimiter !== undefined) throw wrongDelimiter(delimiter);
  const unnamed = names.indexOf('');
  if (unnamed >= 0) {
    throw new Failure(
      `Line 1: column ${unnamed + 1} has no name; remove this column, or the comma before it, in all lines`,
      exitCode.usage,
    );
  }
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new Failure(`Line 1: the column ${missing.join(', ')} is missing`, exitCode.usage);
  }
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new Failure(`Line 1: the column ${repeated} is repeated`, exitCode.usage);
  const known = [...required, ...optional];
  const unknown = names.filter((name) => !known.includes(name) && !ignored.includes(name));
  if (unknown.length > 0) {
    throw new Failure(
      `Line 1: unknown column ${unknown.join(', ')}; the columns may be ${known.join(', ')}`,
      exitCode.usage,
    );
  }
  return names;
}

/**
 * Converts an error in a CSV file to a `Failure` for the user. If the error comes from the parser csv-parse, the
 * message of the `Failure` contains the line number.
 *
 * @param lastLine the number of the line on which the parser finished reading its last complete field
 */
function faultOf(error: CsvError | Failure | NodeJS.ErrnoException, lastLine: number): Failure {
  if (error instanceof Failure) return error;
  if (!('lines' in error)) return new Failure(error.message, exitCode.usage);
  const { code, lines, message } = error;
  if (code === 'CSV_QUOTE_NOT_CLOSED') {
    // The parser notices a missing closing quote only at the end of the file, which can be thousands of lines after the
    // opening quote.
    return new Failure(
      `Line ${lastLine}: a quote that opens in this line or in the next row is not closed`,
      exitCode.usage,
    );
  }
  // The parser reports the character after the closing quote of the first column name. If this character is a
  // semicolon, for example, the file uses semicolons instead of commas.
  const [, delimiter = ''] = /got "(.)"/.exec(message) ?? [];
  if (lines === 1 && code === 'CSV_INVALID_CLOSING_QUOTE' && Object.hasOwn(otherDelimiters, delimiter)) {
    return wrongDelimiter(delimiter);
  }
  return new Failure(`Line ${lines}: ${message}`, exitCode.usage);
}

/** A row of a CSV file, with its line number. */
interface CsvRecord {
  line: number;
  /**
   * The fields of the CSV row. Each property has the name of a CSV column, and contains the field of this CSV row in
   * that column. A CSV field without quotes becomes null if it is empty.
   */
  fields: Record<string, string | null>;
}

/**
 * Reads a CSV file (RFC 4180) whose encoding is UTF-8. The file may start with a byte order mark. Each line may end
 * with CRLF, LF or CR. Spaces at the start and end of a CSV field are kept.
 *
 * @throws {Failure} when the file cannot be read, is empty, is not in UTF-8, or is not valid CSV. For invalid CSV, the
 *   error message contains the line number
 */
export async function* readCsv(source: Source, columns: CsvColumns): AsyncGenerator<CsvRecord> {
  let hasHeader = false;
  let lastLine = 1;
  const text = Readable.from(textOf(source));
  const parser = text.pipe(
    parse({
      columns: (names: string[]) => {
        hasHeader = true;
        return checkHeader(names, columns);
      },
      info: true,
      skip_empty_lines: true,
      // Without `record_delimiter`, the CSV parser would use the line ending of the first line for all lines.
      record_delimiter: ['\r\n', '\n', '\r'],
      cast(value, { quoting, header, lines }) {
        lastLine = lines;
        return value === '' && !quoting && !header ? null : value;
      },
    }),
  );
  text.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: Record<string, string | null>;
      info: Info;
    }>) {
      yield { fields: record, line: info.lines };
    }
    if (!hasHeader) {
      const header = [...columns.required, ...(columns.optional ?? [])].join(',');
      throw new Failure(`${source.name} is empty: its first line must be ${header}`, exitCode.usage);
    }
  } catch (error) {
    throw faultOf(error as CsvError | Failure | NodeJS.ErrnoException, lastLine);
  }
}

/** The options for writing a CSV file. */
export interface CsvOptions {
  /** Whether to write an apostrophe before each text that a spreadsheet program would run as a formula. */
  safeCsv?: boolean | undefined;
}

/**
 * Returns the settings for the library that writes CSV rows. In the CSV file, a null value becomes an empty field, and
 * an empty string becomes a pair of quotes. With the option `safeCsv`, values that look like formulas get an
 * apostrophe. Without the option `safeCsv`, `readCsv` later returns exactly the values that were written.
 */
const formatOf = (columns: readonly string[], { safeCsv = false }: CsvOptions): Options => ({
  header: true,
  escape_formulas: safeCsv,
  columns: [...columns],
  cast: { string: (value) => ({ value, quoted_empty: true }) },
});

/** Creates a stream that converts records to CSV. */
export const createCsvWriter = (columns: readonly string[], options: CsvOptions): Stringifier =>
  stringify(formatOf(columns, options));

/** Converts records to a text in CSV, with a header line if `header` is true. */
export const csvText = (
  columns: readonly string[],
  records: readonly object[],
  { header, ...options }: CsvOptions & { header: boolean },
): string => stringifySync([...records], { ...formatOf(columns, options), header });
