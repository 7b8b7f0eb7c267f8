import { GRAPHQL_MAX_INT } from 'graphql';
import { readCsv } from './csv.ts';
import type { EntryFieldsFragment, WhitelistEntryInput } from './generated/operations.ts';
import { hoursForm, hoursText, parseHours } from './hours-text.ts';
import type { Source } from './source.ts';

const required = ['referenceId', 'plateType', 'plateCode', 'plateNumber'] as const;
const optional = ['vehicleType', 'note', 'validFrom', 'validUntil'] as const;

/**
 * If a CSV file has no column `hours`, an import does not change the weekly hours of the whitelist entries in the file.
 * An empty field in the column `hours` deletes the weekly hours of a whitelist entry. The column `maxEntries` works
 * like the column `hours`: without this column, an import changes no entry limit, and an empty field deletes the entry
 * limit.
 */
const kept = ['hours', 'maxEntries'] as const;

/** The columns of a CSV file with a whitelist, in the order in which an export writes the columns. */
export const entryColumns = [...required, ...optional, ...kept] as const;

/**
 * The additional columns of a file of rejected rows, which describe why each row was rejected. An import ignores the
 * columns in `rejectionColumns`, so that users can correct the rejected rows and import the file again.
 */
export const rejectionColumns = ['line', 'field', 'code', 'message', 'value'] as const;

/** A row of a CSV file, with its line number. */
export interface Row {
  line: number;
  /** The fields of the CSV row as unparsed texts. */
  fields: Record<string, string | null>;
  /**
   * The whitelist entry that the CSV row describes. If the CSV field `hours` or `maxEntries` of the row is malformed,
   * the object `entry` does not contain this field.
   */
  entry: WhitelistEntryInput;
  /**
   * The name and the value of the first malformed field of the CSV row, with an error message; `undefined` if no field
   * is malformed.
   */
  fault?: { field: string; message: string; value: string } | undefined;
}

/**
 * The functions that parse the fields `hours` and `maxEntries` of a CSV row. The caller never passes an empty field to
 * these functions, because an empty field of a CSV row means null.
 */
const readKept = {
  hours: (text: string) => parseHours(text),
  maxEntries: (text: string) => {
    if (!/^\d+$/.test(text)) throw new TypeError('Must be a whole number');
    // A GraphQL integer is at most 2147483647. If one CSV row contained a number above this maximum, the gateway would
    // reject the whole request, including the valid rows.
    if (Number(text) > GRAPHQL_MAX_INT) throw new TypeError(`Must be ${GRAPHQL_MAX_INT} or less`);
    return Number(text);
  },
} satisfies Record<(typeof kept)[number], (text: string) => unknown>;

/** Converts a record from the CSV parser to a `Row` with a whitelist entry. */
function rowOf(record: Record<string, string | null>, line: number): Row {
  let fault: Row['fault'];
  const read = kept.flatMap((name) => {
    const text = record[name];
    if (text === undefined) return [];
    try {
      return [[name, text === null || text === '' ? null : readKept[name](text)]];
    } catch (error) {
      const message = name === 'hours' ? `Must be hours such as ${hoursForm}` : (error as TypeError).message;
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

/**
 * Reads a whitelist from CSV. In an optional column, an empty field is read as null, and empty quotes are read as an
 * empty text.
 *
 * @throws {Failure} when the file cannot be read, or when its content is not valid
 */
export async function* readRows(source: Source): AsyncGenerator<Row> {
  const columns = { required, optional: [...optional, ...kept], ignored: rejectionColumns };
  for await (const { fields, line } of readCsv(source, columns)) yield rowOf(fields, line);
}
