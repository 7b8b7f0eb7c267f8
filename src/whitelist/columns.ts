import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns, rowAsJson } from '../database/columns.ts';
import type { WeeklyHours } from './hours.ts';

// The columns of a whitelist entry. SQL, parameters and types follow from the model in schema.prisma and from
// `valueTypes`.

/** The columns that only the gateway writes. */
type OwnColumn = 'id' | 'locationId' | 'version' | 'createdAt' | 'updatedAt';

/** Values that stay unchanged when a client omits them. Clients of earlier releases do not send them. */
export interface OmittableValues {
  /** When in a week the vehicle may enter; null for at all times. */
  hours?: readonly WeeklyHours[] | null | undefined;
  /** How many times the vehicle may enter in total; null for no limit. */
  maxEntries?: number | null | undefined;
}

/** The values of an entry that a client writes. */
export type WhitelistEntryValues = Omit<WhitelistEntry, OwnColumn | keyof OmittableValues> & OmittableValues;

/** The weekly hours of an entry; empty when the vehicle may enter at all times. */
export const hoursOf = ({ hours }: Pick<WhitelistEntry, 'hours'>) =>
  (hours ?? []) as unknown as readonly WeeklyHours[];

/**
 * The columns that a client writes, with their types in PostgreSQL. A column that the model has but this list does not
 * is a type error.
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

/** The parameter that keeps a column unchanged, such as `keepHours`. */
const keepName = (column: string) => `keep${column[0]!.toUpperCase()}${column.slice(1)}`;

const valueColumns = Object.keys(valueTypes) as (keyof WhitelistEntryValues)[];
const plateColumns = ['plateType', 'plateCode', 'plateNumber'] as const satisfies (keyof WhitelistEntry)[];
/** The columns of the type timestamptz. */
export const instantColumns = [
  ...valueColumns.filter((column) => valueTypes[column] === 'timestamptz'),
  'createdAt',
  'updatedAt',
];

/** The columns that an import may change: all values except the plate, which identifies the entry. */
const mergedColumns = valueColumns.filter((column) => !(plateColumns as readonly string[]).includes(column));

/** The columns of an entry for a result, such as `e.id, e."locationId"`. */
export const entryColumns = (alias: string) => modelColumns(Prisma.WhitelistEntryScalarFieldEnum, alias);

/** An entry as jsonb, for an audit record. */
export const entryAsJson = (alias: string) => rowAsJson(alias, instantColumns);

/** The columns that a client writes: `"referenceId", "plateType"`. */
export const valueColumnList = columnList(valueColumns);

/** The same columns of a table alias: `i."referenceId", i."plateType"`. */
export const valueColumnsOf = (alias: string) => columnList(valueColumns, (quoted) => `${alias}.${quoted}`);

/** The parameters of these columns in a statement for one entry: `$referenceId::text, $plateType::text`. */
export const valueParameters = columnList(valueColumns, (_, column) => `$${column}::${valueTypes[column]}`);

/** The parameters of these columns in a statement for many entries: `$referenceId::text[], $plateType::text[]`. */
export const valueArrayParameters = columnList(valueColumns, (_, column) =>
  // JSON values are sent as text, because the drivers encode arrays of JSON differently.
  valueTypes[column] === 'jsonb' ? `$${column}::text[]::jsonb[]` : `$${column}::${valueTypes[column]}[]`,
);

/** The columns of `input` and the parameters that say which values stay unchanged. */
export const keepColumnList = columnList(omittableColumns.map(keepName));
export const keepArrayParameters = columnList(
  omittableColumns,
  (_, column) => `$${keepName(column)}::boolean[]`,
);

/** Assigns each column of an entry `w` its parameter: `"referenceId" = $referenceId::text`. */
export const valueAssignments = columnList(valueColumns, (quoted, column) => {
  const value = `$${column}::${valueTypes[column]}`;
  return isOmittable(column)
    ? `${quoted} = CASE WHEN $${keepName(column)}::boolean THEN w.${quoted} ELSE ${value} END`
    : `${quoted} = ${value}`;
});

/** The value that an import assigns to a column when the plate of an `input` row belongs to the existing entry `w`. */
const mergedValue = (quoted: string, column: string) =>
  isOmittable(column)
    ? `CASE WHEN excluded.id IN (SELECT "newId" FROM input WHERE "${keepName(column)}") THEN w.${quoted} ELSE excluded.${quoted} END`
    : `excluded.${quoted}`;

/** Assigns each column that an import may change: `"referenceId" = excluded."referenceId"`. */
export const mergedAssignments = columnList(
  mergedColumns,
  (quoted, column) => `${quoted} = ${mergedValue(quoted, column)}`,
);

/** The condition that an import changes the entry `w`. */
export const isMergeChange = `(${columnList(mergedColumns, (quoted) => `w.${quoted}`)})
  IS DISTINCT FROM (${columnList(mergedColumns, mergedValue)})`;

/** The columns of a plate, optionally of a table alias. */
export const plateColumnList = (alias?: string) =>
  columnList(plateColumns, (quoted) => (alias ? `${alias}.${quoted}` : quoted));

/** The condition that two tables have the same plate. */
export const samePlate = (one: string, other: string) =>
  `(${plateColumnList(one)}) = (${plateColumnList(other)})`;

/** A plate in the form of `plateText`. It contains only ASCII characters, so converting it to upper case is enough. */
const textOf = (...parts: string[]) => `upper((${parts.join(' || ')}) COLLATE "C")`;

/** The texts that a camera may read from the plate of a table alias: without its type, and with it. */
export const plateTexts = (alias: string) => {
  const [plateType, plateCode, plateNumber] = plateColumns.map((column) => `${alias}."${column}"`);
  return [textOf(plateCode!, plateNumber!), textOf(plateType!, plateCode!, plateNumber!)];
};

/** A value as a parameter: JSON as text, and null for an omitted value. */
function parameterOf(values: WhitelistEntryValues, column: keyof WhitelistEntryValues) {
  const value = values[column] ?? null;
  return valueTypes[column] === 'jsonb' && value !== null ? JSON.stringify(value) : value;
}

/** The parameters of one entry. */
export const valuesOf = (values: WhitelistEntryValues): Record<string, unknown> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, parameterOf(values, column)]),
    ...omittableColumns.map((column) => [keepName(column), values[column] === undefined]),
  ]);

/** The parameters of many entries: an array of values for each column. */
export const valueArrays = (entries: readonly WhitelistEntryValues[]): Record<string, unknown[]> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, entries.map((entry) => parameterOf(entry, column))]),
    ...omittableColumns.map((column) => [
      keepName(column),
      entries.map((entry) => entry[column] === undefined),
    ]),
  ]);
