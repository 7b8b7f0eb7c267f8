import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns, rowAsJson } from '../database/columns.ts';
import type { WeeklyHours } from './hours.ts';

// The columns of a whitelist entry. SQL, parameters and types follow from the model in schema.prisma and from
// `valueTypes`.

/** The columns of an entry that only the gateway writes. */
type OwnColumn = 'id' | 'locationId' | 'version' | 'createdAt' | 'updatedAt';

/**
 * The values of an entry that stay unchanged when a client omits them. Clients of earlier releases do not send these
 * values.
 */
export interface OmittableValues {
  /** When in a week the vehicle may enter. null means at all times. */
  hours?: readonly WeeklyHours[] | null | undefined;
  /** How many times the vehicle may enter in total. null means no limit. */
  maxEntries?: number | null | undefined;
}

/** The values of an entry that a client writes. */
export type WhitelistEntryValues = Omit<WhitelistEntry, OwnColumn | keyof OmittableValues> & OmittableValues;

/** Returns the weekly hours of an entry. The list is empty when the vehicle may enter at all times. */
export const hoursOf = ({ hours }: Pick<WhitelistEntry, 'hours'>) =>
  (hours ?? []) as unknown as readonly WeeklyHours[];

/**
 * The columns that a client writes, with their types in PostgreSQL. If the model has a column that is missing in this
 * list, the compiler reports a type error.
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

/** Returns the name of the parameter that keeps a column unchanged, such as `keepHours`. */
const keepName = (column: string) => `keep${column[0]!.toUpperCase()}${column.slice(1)}`;

const valueColumns = Object.keys(valueTypes) as (keyof WhitelistEntryValues)[];
const plateColumns = ['plateType', 'plateCode', 'plateNumber'] as const satisfies (keyof WhitelistEntry)[];
/** The columns of an entry with the type timestamptz. */
export const instantColumns = [
  ...valueColumns.filter((column) => valueTypes[column] === 'timestamptz'),
  'createdAt',
  'updatedAt',
];

/** The columns that an import may change: all values except the plate, because the plate identifies the entry. */
const mergedColumns = valueColumns.filter((column) => !(plateColumns as readonly string[]).includes(column));

/** The columns of an entry for a result, such as `e.id, e."locationId"`. */
export const entryColumns = (alias: string) => modelColumns(Prisma.WhitelistEntryScalarFieldEnum, alias);

/** SQL for an entry as jsonb, for an audit record. */
export const entryAsJson = (alias: string) => rowAsJson(alias, instantColumns);

/** The list of the columns that a client writes: `"referenceId", "plateType"`. */
export const valueColumnList = columnList(valueColumns);

/** Returns the list of the columns that a client writes, for a table alias: `i."referenceId", i."plateType"`. */
export const valueColumnsOf = (alias: string) => columnList(valueColumns, (quoted) => `${alias}.${quoted}`);

/**
 * The parameters for the columns that a client writes, in a statement for one entry: `$referenceId::text,
 * $plateType::text`.
 */
export const valueParameters = columnList(valueColumns, (_, column) => `$${column}::${valueTypes[column]}`);

/**
 * The parameters for the columns that a client writes, in a statement for many entries: `$referenceId::text[],
 * $plateType::text[]`.
 */
export const valueArrayParameters = columnList(valueColumns, (_, column) =>
  // JSON values are sent as text, because the drivers encode arrays of JSON differently.
  valueTypes[column] === 'jsonb' ? `$${column}::text[]::jsonb[]` : `$${column}::${valueTypes[column]}[]`,
);

/** The columns of the table `input`, with the parameters that say which values stay unchanged. */
export const keepColumnList = columnList(omittableColumns.map(keepName));
export const keepArrayParameters = columnList(
  omittableColumns,
  (_, column) => `$${keepName(column)}::boolean[]`,
);

/** SQL that sets each column of an entry `w` to its parameter: `"referenceId" = $referenceId::text`. */
export const valueAssignments = columnList(valueColumns, (quoted, column) => {
  const value = `$${column}::${valueTypes[column]}`;
  return isOmittable(column)
    ? `${quoted} = CASE WHEN $${keepName(column)}::boolean THEN w.${quoted} ELSE ${value} END`
    : `${quoted} = ${value}`;
});

/**
 * Returns SQL for the value that an import assigns to a column when the plate of an `input` row belongs to the existing
 * entry `w`.
 */
const mergedValue = (quoted: string, column: string) =>
  isOmittable(column)
    ? `CASE WHEN excluded.id IN (SELECT "newId" FROM input WHERE "${keepName(column)}") THEN w.${quoted} ELSE excluded.${quoted} END`
    : `excluded.${quoted}`;

/** SQL that sets each column that an import may change: `"referenceId" = excluded."referenceId"`. */
export const mergedAssignments = columnList(
  mergedColumns,
  (quoted, column) => `${quoted} = ${mergedValue(quoted, column)}`,
);

/** The SQL condition that an import changes the entry `w`. */
export const isMergeChange = `(${columnList(mergedColumns, (quoted) => `w.${quoted}`)})
  IS DISTINCT FROM (${columnList(mergedColumns, mergedValue)})`;

/** Returns the list of the columns of a plate. The columns can have a table alias. */
export const plateColumnList = (alias?: string) =>
  columnList(plateColumns, (quoted) => (alias ? `${alias}.${quoted}` : quoted));

/** Returns the SQL condition that two tables have the same plate. */
export const samePlate = (one: string, other: string) =>
  `(${plateColumnList(one)}) = (${plateColumnList(other)})`;

/**
 * SQL for a plate in the form of `plateText`. A plate contains only ASCII characters, so converting it to upper case is
 * enough.
 */
const textOf = (...parts: string[]) => `upper((${parts.join(' || ')}) COLLATE "C")`;

/**
 * Returns SQL for the texts that a camera may read from the plate of a table alias: without the plate type, and with
 * the plate type.
 */
export const plateTexts = (alias: string) => {
  const [plateType, plateCode, plateNumber] = plateColumns.map((column) => `${alias}."${column}"`);
  return [textOf(plateCode!, plateNumber!), textOf(plateType!, plateCode!, plateNumber!)];
};

/** Returns a value as a parameter of a statement. JSON becomes text, and an omitted value becomes null. */
function parameterOf(values: WhitelistEntryValues, column: keyof WhitelistEntryValues) {
  const value = values[column] ?? null;
  return valueTypes[column] === 'jsonb' && value !== null ? JSON.stringify(value) : value;
}

/** Returns the parameters of one entry. */
export const valuesOf = (values: WhitelistEntryValues): Record<string, unknown> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, parameterOf(values, column)]),
    ...omittableColumns.map((column) => [keepName(column), values[column] === undefined]),
  ]);

/** Returns the parameters of many entries: an array of values for each column. */
export const valueArrays = (entries: readonly WhitelistEntryValues[]): Record<string, unknown[]> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, entries.map((entry) => parameterOf(entry, column))]),
    ...omittableColumns.map((column) => [
      keepName(column),
      entries.map((entry) => entry[column] === undefined),
    ]),
  ]);
