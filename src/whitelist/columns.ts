import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns, rowAsJson } from '../database/columns.ts';
import type { WeeklyHours } from './hours.ts';

// The columns of a whitelist entry, for SQL statements. The columns follow from the model in schema.prisma, and
// `valueTypes` has their types.

/** The columns of an entry that only the gateway writes, and no client. */
type OwnColumn = 'id' | 'locationId' | 'version' | 'createdAt' | 'updatedAt';

/**
 * The values of an entry that stay unchanged when a client omits them. Clients that were written for earlier releases
 * do not send these values.
 */
export interface OmittableValues {
  /** The weekly hours in which the vehicle may enter; null means at all times. */
  hours?: readonly WeeklyHours[] | null | undefined;
  /** How many times the vehicle may enter in total; null means without limit. */
  maxEntries?: number | null | undefined;
}

/** The values of an entry that a client writes. */
export type WhitelistEntryValues = Omit<WhitelistEntry, OwnColumn | keyof OmittableValues> & OmittableValues;

/** Returns the weekly hours of an entry. An empty list means that the vehicle may enter at all times. */
export const hoursOf = ({ hours }: Pick<WhitelistEntry, 'hours'>) =>
  (hours ?? []) as unknown as readonly WeeklyHours[];

/**
 * The columns that a client writes, with their types in PostgreSQL. If a column of the model is missing here,
 * TypeScript reports an error.
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
const plateColumns = ['plateType', 'plateCode', 'plateNumber'] as const satisfies (keyof WhitelistEntry)[];
/** The columns of an entry with the type timestamptz. */
export const instantColumns = [
  ...valueColumns.filter((column) => valueTypes[column] === 'timestamptz'),
  'createdAt',
  'updatedAt',
];

/**
 * The columns that an import may change in an existing entry. The columns of the plate are missing, because the plate
 * identifies the entry.
 */
const mergedColumns = valueColumns.filter((column) => !(plateColumns as readonly string[]).includes(column));

/** Returns the SQL list of the columns of an entry with a table alias, such as `e.id, e."locationId"`. */
export const entryColumns = (alias: string) => modelColumns(Prisma.WhitelistEntryScalarFieldEnum, alias);

/** Returns SQL that converts an entry to jsonb, for an audit record. */
export const entryAsJson = (alias: string) => rowAsJson(alias, instantColumns);

/** The SQL list of the columns that a client writes: `"referenceId", "plateType"`. */
export const valueColumnList = columnList(valueColumns);

/** Returns the SQL list of the columns that a client writes, with a table alias: `i."referenceId", i."plateType"`. */
export const valueColumnsOf = (alias: string) => columnList(valueColumns, (quoted) => `${alias}.${quoted}`);

/** SQL parameters for the columns that a client writes, for one entry: `$referenceId::text, $plateType::text`. */
export const valueParameters = columnList(valueColumns, (_, column) => `$${column}::${valueTypes[column]}`);

/**
 * SQL parameters for the columns that a client writes, for many entries: `$referenceId::text[], $plateType::text[]`.
 */
export const valueArrayParameters = columnList(valueColumns, (_, column) =>
  // JSON is sent as text, because the two drivers encode arrays of JSON in different ways.
  valueTypes[column] === 'jsonb' ? `$${column}::text[]::jsonb[]` : `$${column}::${valueTypes[column]}[]`,
);

/** The columns of the table `input` that say which values stay unchanged. */
export const keepColumnList = columnList(omittableColumns.map(keepName));
export const keepArrayParameters = columnList(
  omittableColumns,
  (_, column) => `$${keepName(column)}::boolean[]`,
);

/**
 * SQL that sets each column of an entry to its parameter: `"referenceId" = $referenceId::text`. The table of the
 * entries has the alias `w`.
 */
export const valueAssignments = columnList(valueColumns, (quoted, column) => {
  const value = `$${column}::${valueTypes[column]}`;
  return isOmittable(column)
    ? `${quoted} = CASE WHEN $${keepName(column)}::boolean THEN w.${quoted} ELSE ${value} END`
    : `${quoted} = ${value}`;
});

/**
 * Returns SQL for the new value of a column when an import changes an existing entry `w`. The table `input` has the
 * imported row with the same plate.
 */
const mergedValue = (quoted: string, column: string) =>
  isOmittable(column)
    ? `CASE WHEN excluded.id IN (SELECT "newId" FROM input WHERE "${keepName(column)}") THEN w.${quoted} ELSE excluded.${quoted} END`
    : `excluded.${quoted}`;

/**
 * SQL that sets the columns that an import may change to their new values: `"referenceId" = excluded."referenceId"`.
 */
export const mergedAssignments = columnList(
  mergedColumns,
  (quoted, column) => `${quoted} = ${mergedValue(quoted, column)}`,
);

/** The SQL condition that the imported row differs from the existing entry `w`. */
export const isMergeChange = `(${columnList(mergedColumns, (quoted) => `w.${quoted}`)})
  IS DISTINCT FROM (${columnList(mergedColumns, mergedValue)})`;

/** Returns the SQL list of the columns of a plate, with or without a table alias. */
export const plateColumnList = (alias?: string) =>
  columnList(plateColumns, (quoted) => (alias ? `${alias}.${quoted}` : quoted));

/** Returns the SQL condition that the rows of two tables have the same plate. */
export const samePlate = (one: string, other: string) =>
  `(${plateColumnList(one)}) = (${plateColumnList(other)})`;

/**
 * SQL that converts the parts of a plate to the form of `plateText`. Plates contain only ASCII characters, so upper
 * case is the only conversion.
 */
const textOf = (...parts: string[]) => `upper((${parts.join(' || ')}) COLLATE "C")`;

/**
 * Returns SQL for the two texts that a camera may read from a plate: without the plate type, and with the plate type.
 * The argument is the alias of the table with the plate.
 */
export const plateTexts = (alias: string) => {
  const [plateType, plateCode, plateNumber] = plateColumns.map((column) => `${alias}."${column}"`);
  return [textOf(plateCode!, plateNumber!), textOf(plateType!, plateCode!, plateNumber!)];
};

/**
 * Converts a value of an entry to a parameter of an SQL statement. JSON becomes text, and an omitted value becomes
 * null.
 */
function parameterOf(values: WhitelistEntryValues, column: keyof WhitelistEntryValues) {
  const value = values[column] ?? null;
  return valueTypes[column] === 'jsonb' && value !== null ? JSON.stringify(value) : value;
}

/** Returns the SQL parameters for one entry. */
export const valuesOf = (values: WhitelistEntryValues): Record<string, unknown> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, parameterOf(values, column)]),
    ...omittableColumns.map((column) => [keepName(column), values[column] === undefined]),
  ]);

/** Returns the SQL parameters for many entries. Each parameter is an array with the values of one column. */
export const valueArrays = (entries: readonly WhitelistEntryValues[]): Record<string, unknown[]> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, entries.map((entry) => parameterOf(entry, column))]),
    ...omittableColumns.map((column) => [
      keepName(column),
      entries.map((entry) => entry[column] === undefined),
    ]),
  ]);
