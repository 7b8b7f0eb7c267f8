import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns, rowAsJson } from '../database/columns.ts';
import type { WeeklyHours } from './hours.ts';
import { plateColumns } from './plate.ts';

// The SQL that lists or converts the columns of a whitelist entry. The list of columns comes from the model in
// schema.prisma, and the types of the columns are in `valueTypes`.

/** The columns of a whitelist entry that only the gateway sets. */
type OwnColumn = 'id' | 'locationId' | 'version' | 'createdAt' | 'updatedAt';

/**
 * The values that a client may omit when it writes a whitelist entry. If an update omits `hours` or `maxEntries`, the
 * gateway keeps the existing value, because clients of earlier releases do not send these fields.
 */
export interface OmittableValues {
  /** The weekly hours in which the vehicle may enter; null means that the vehicle may enter at all times. */
  hours?: readonly WeeklyHours[] | null | undefined;
  /** How many times the vehicle may enter in total; null means that there is no limit. */
  maxEntries?: number | null | undefined;
}

/** The values that a client writes into a whitelist entry. */
export type WhitelistEntryValues = Omit<WhitelistEntry, OwnColumn | keyof OmittableValues> & OmittableValues;

/**
 * Returns the weekly hours of a whitelist entry. If the list of hours is empty, the vehicle may enter at all times.
 */
export const hoursOf = ({ hours }: Pick<WhitelistEntry, 'hours'>) =>
  (hours ?? []) as unknown as readonly WeeklyHours[];

/**
 * Those columns of a whitelist entry that contain values from a client, with the PostgreSQL type of each column. If the
 * Prisma model has a column that is missing in this object, TypeScript reports an error.
 */
const valueTypes = {
  referenceId: 'text',
  plateType: 'text',
  plateCode: 'text',
  plateNumber: 'text',
  vehicleType: 'text',
  note: 'text',
  validFrom: 'timestamptz',
  validUntil: 'timestamptz',
  hours: 'jsonb',
  maxEntries: 'int',
} as const satisfies Record<keyof WhitelistEntryValues, 'text' | 'timestamptz' | 'jsonb' | 'int'>;

const omittableColumns = ['hours', 'maxEntries'] as const satisfies (keyof OmittableValues)[];
const isOmittable = (column: string): column is keyof OmittableValues =>
  (omittableColumns as readonly string[]).includes(column);

/** Returns the name of the SQL parameter that says whether a column stays unchanged, such as `keepHours`. */
const keepName = (column: string) => `keep${column[0]!.toUpperCase()}${column.slice(1)}`;

const valueColumns = Object.keys(valueTypes) as (keyof WhitelistEntryValues)[];
/** The columns of a whitelist entry that have the type timestamptz. */
export const instantColumns = [
  ...valueColumns.filter((column) => valueTypes[column] === 'timestamptz'),
  'createdAt',
  'updatedAt',
];

/**
 * The columns that an import may change in an existing whitelist entry. An import never changes the plate columns,
 * because an import finds an existing whitelist entry by its plate.
 */
const mergedColumns = valueColumns.filter((column) => !(plateColumns as readonly string[]).includes(column));

/** Returns SQL that lists all columns of a whitelist entry with a table alias, such as `e.id, e."locationId"`. */
export const entryColumns = (alias: string) => modelColumns(Prisma.WhitelistEntryScalarFieldEnum, alias);

/** Returns SQL that converts a whitelist entry to jsonb, for an audit record. */
export const entryAsJson = (alias: string) => rowAsJson(alias, instantColumns);

/** SQL that lists the columns that clients can set, such as `"referenceId", "plateType"`. */
export const valueColumnList = columnList(valueColumns);

/**
 * Returns SQL that lists the columns that clients can set, each with a table alias, such as `i."referenceId",
 * i."plateType"`.
 */
export const valueColumnsOf = (alias: string) => modelColumns(valueTypes, alias);

/**
 * SQL array parameters for many whitelist entries: one array for each column that clients can set, such as
 * `$referenceId::text[], $plateType::text[]`.
 */
export const valueArrayParameters = columnList(valueColumns, (_, column) =>
  // Arrays of JSON values are sent to the database as arrays of text, because pg and PGlite encode arrays of JSON in
  // different ways.
  valueTypes[column] === 'jsonb' ? `$${column}::text[]::jsonb[]` : `$${column}::${valueTypes[column]}[]`,
);

/**
 * SQL that lists the boolean columns in the table `input` (the imported rows), such as `keepHours`. If `keepHours` is
 * true, the import keeps the weekly hours of the existing whitelist entry.
 */
export const keepColumnList = columnList(omittableColumns.map(keepName));
export const keepArrayParameters = columnList(
  omittableColumns,
  (_, column) => `$${keepName(column)}::boolean[]`,
);

/**
 * Returns SQL that sets each column of a whitelist entry `w` to the value of the same column in the table `sent`, such
 * as `"referenceId" = sent."referenceId"`.
 *
 * @param sent the alias of a table that has the columns in `valueColumnList` and `keepColumnList`
 */
export const valueAssignments = (sent: string) =>
  columnList(valueColumns, (quoted, column) =>
    isOmittable(column)
      ? `${quoted} = CASE WHEN ${sent}."${keepName(column)}" THEN w.${quoted} ELSE ${sent}.${quoted} END`
      : `${quoted} = ${sent}.${quoted}`,
  );

/**
 * Returns SQL for the new value of a column when an import changes an existing whitelist entry `w`. The table `input`
 * contains the imported row with the same plate as this whitelist entry.
 */
const mergedValue = (quoted: string, column: string) =>
  isOmittable(column)
    ? `CASE WHEN excluded.id IN (SELECT "newId" FROM input WHERE "${keepName(column)}") THEN w.${quoted} ELSE excluded.${quoted} END`
    : `excluded.${quoted}`;

/**
 * SQL that assigns the new values to the columns that an import may change, such as `"referenceId" =
 * excluded."referenceId"`.
 */
export const mergedAssignments = columnList(
  mergedColumns,
  (quoted, column) => `${quoted} = ${mergedValue(quoted, column)}`,
);

/** The SQL condition that is true when the imported row differs from the existing whitelist entry `w`. */
export const isMergeChange = `(${columnList(mergedColumns, (quoted) => `w.${quoted}`)})
  IS DISTINCT FROM (${columnList(mergedColumns, mergedValue)})`;

/** Returns SQL that lists the columns of a plate, with or without a table alias. */
export const plateColumnList = (alias?: string) =>
  columnList(plateColumns, (quoted) => (alias ? `${alias}.${quoted}` : quoted));

/** Returns the SQL condition that is true when the rows of two tables have the same plate. */
export const samePlate = (one: string, other: string) =>
  `(${plateColumnList(one)}) = (${plateColumnList(other)})`;

/**
 * SQL that converts the parts of a plate to one text in the form that `plateText` returns. Plates contain only ASCII
 * characters, so the conversion to upper case is sufficient.
 */
const textOf = (...parts: string[]) => `upper((${parts.join(' || ')}) COLLATE "C")`;

/**
 * Returns SQL for the two texts that a camera may read from a plate: the text without the plate type, and the text with
 * the plate type. The argument `alias` is the SQL alias of the table that contains the plate.
 */
export const plateTexts = (alias: string) => {
  const [plateType, plateCode, plateNumber] = plateColumns.map((column) => `${alias}."${column}"`);
  return [textOf(plateCode!, plateNumber!), textOf(plateType!, plateCode!, plateNumber!)];
};

/**
 * SQL that converts the parameters of `textArrays` (src/whitelist/matching.ts) to a table `t`. The table `t` contains,
 * for several camera readings, all texts that the camera may have read.
 */
export const textRows = `unnest($n::int[], $place::int[], $plateType::text[], $text::text[], $numbers::text[])
      AS t(n, place, "plateType", text, numbers)`;

/**
 * The SQL condition that is true when a whitelist entry `e` matches a camera text `t` (the plate text that a camera
 * read). The camera text `t` may begin with the plate type, and always ends with the plate number. The camera text has
 * several possible plate numbers at its end, and the SQL condition compares each of them with the plate number of `e`.
 * PostgreSQL can therefore use the index of plate numbers.
 */
export const fitsText = `e."plateNumber" = ANY (string_to_array(t.numbers, ' '))
      AND t.text IN (${plateTexts('e').join(', ')})
      AND (t."plateType" IS NULL OR e."plateType" = t."plateType")`;

/**
 * Converts a value of a whitelist entry to a parameter of an SQL statement. The function converts a JSON value to a
 * text, and an omitted value to null.
 */
function parameterOf(values: WhitelistEntryValues, column: keyof WhitelistEntryValues) {
  const value = values[column] ?? null;
  return valueTypes[column] === 'jsonb' && value !== null ? JSON.stringify(value) : value;
}

/** Returns the SQL parameters for one whitelist entry. */
export const valuesOf = (values: WhitelistEntryValues): Record<string, unknown> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, parameterOf(values, column)]),
    ...omittableColumns.map((column) => [keepName(column), values[column] === undefined]),
  ]);

/**
 * Returns the SQL parameters for many whitelist entries. Each SQL parameter is an array with the values of one column.
 */
export const valueArrays = (entries: readonly WhitelistEntryValues[]): Record<string, unknown[]> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, entries.map((entry) => parameterOf(entry, column))]),
    ...omittableColumns.map((column) => [
      keepName(column),
      entries.map((entry) => entry[column] === undefined),
    ]),
  ]);

/**
 * A row that an SQL query with an outer join returns. If the outer join found no matching row, all columns in `Row` are
 * null.
 */
export type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };

/** Returns the whitelist entry in a result row of an outer join, or null when no whitelist entry matched. */
export const entryOf = (row: Nullable<WhitelistEntry>): WhitelistEntry | null =>
  row.id === null ? null : (row as WhitelistEntry);
