import { type CsvError, type Info, parse } from 'csv-parse';
import { type Stringifier, stringify } from 'csv-stringify';
import { exitCode, Failure } from './failure.ts';
import type { WhitelistEntryInput } from './generated/operations.ts';

const required = ['referenceId', 'plateType', 'plateCode', 'plateNumber'] as const;
const optional = ['vehicleType', 'note', 'validFrom', 'validUntil'] as const;

/** The columns of a whitelist's file, in the order in which they are written. */
export const entryColumns = [...required, ...optional] as const;

/** What a file of rejected rows has besides; a corrected one may be imported as it is. */
export const rejectionColumns = ['line', 'field', 'code', 'message', 'value'] as const;

/** A row of a file, and where it stands. */
export interface Row {
  line: number;
  entry: WhitelistEntryInput;
}

/** The header of a file, if an import can do with it. */
function checkHeader(names: string[]): string[] {
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
function faultOf(error: CsvError | Failure): Failure {
  if (error instanceof Failure) return error;
  return new Failure(`Line ${error.lines ?? '?'}: ${error.message}`, exitCode.usage);
}

/**
 * Reads a whitelist from CSV (RFC 4180; a byte order mark and either line ending will do). An empty field that
 * may be left out is null, a quoted empty one is an empty text; nothing is trimmed.
 *
 * @throws {Failure} when the file has not the form of one, with the line
 */
export async function* readRows(file: NodeJS.ReadableStream): AsyncGenerator<Row> {
  const parser = file.pipe(
    parse({
      bom: true,
      columns: checkHeader,
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
      const entry = Object.fromEntries([
        ...required.map((name) => [name, record[name] ?? '']),
        ...optional.map((name) => [name, record[name] ?? null]),
      ]) as WhitelistEntryInput;
      yield { line: info.lines, entry };
    }
  } catch (error) {
    throw faultOf(error as CsvError | Failure);
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
