import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns, rowAsJson } from '../database/columns.ts';
import type { WeeklyHours } from './hours.ts';

// What is known of the columns of an entry: SQL, parameters and types follow from the model in schema.prisma and
// from `valueTypes`.

/** The columns that the gateway writes itself. */
type OwnColumn = 'id' | 'locationId' | 'version' | 'createdAt' | 'updatedAt';

/** Values that stay as they are where a client does not say them: clients of earlier releases do not know them. */
export interface KeptValues {
  /** When in a week the vehicle may enter; null for at all times. */
  hours?: readonly WeeklyHours[] | null | undefined;
  /** How many entries it may make in all; null for any number. */
  maxEntries?: number | null | undefined;
}

/** What a client writes of an entry. */
export type WhitelistEntryValues = Omit<WhitelistEntry, OwnColumn | keyof KeptValues> & KeptValues;

/** The hours of an entry; none for at all times. */
export const hoursOf = ({ hours }: Pick<WhitelistEntry, 'hours'>) =>
  (hours ?? []) as unknown as readonly WeeklyHours[];

/** The columns that a client writes, with their types in PostgreSQL. One that the model has must be here. */
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

const keptColumns = ['hours', 'maxEntries'] as const satisfies (keyof KeptValues)[];
const isKept = (column: string): column is keyof KeptValues =>
  (keptColumns as readonly string[]).includes(column);

/** The parameter that says of such a column that it stays as it is: `keepHours`. */
const keepName = (column: string) => `keep${column[0]!.toUpperCase()}${column.slice(1)}`;

const valueColumns = Object.keys(valueTypes) as (keyof WhitelistEntryValues)[];
const plateColumns = ['plateType', 'plateCode', 'plateNumber'] as const satisfies (keyof WhitelistEntry)[];
/** The columns that are instants. */
export const instantColumns = [
  ...valueColumns.filter((column) => valueTypes[column] === 'timestamptz'),
  'createdAt',
  'updatedAt',
];

/** The columns of a value that an import may change: all but those of the plate, by which it finds the entry. */
const mergedColumns = valueColumns.filter((column) => !(plateColumns as readonly string[]).includes(column));

/** The columns of an entry for a result, such as `e.id, e."locationId"`. */
export const entryColumns = (alias: string) => modelColumns(Prisma.WhitelistEntryScalarFieldEnum, alias);

/** An entry as jsonb for an audit record. */
export const entryAsJson = (alias: string) => rowAsJson(alias, instantColumns);

/** The columns that a client writes: `"referenceId", "plateType"`. */
export const valueColumnList = columnList(valueColumns);

/** The same of a table by its alias: `i."referenceId", i."plateType"`. */
export const valueColumnsOf = (alias: string) => columnList(valueColumns, (quoted) => `${alias}.${quoted}`);

/** Their parameters in a statement about one entry: `$referenceId::text, $plateType::text`. */
export const valueParameters = columnList(valueColumns, (_, column) => `$${column}::${valueTypes[column]}`);

/** Their parameters in a statement about many entries: `$referenceId::text[], $plateType::text[]`. */
export const valueArrayParameters = columnList(valueColumns, (_, column) =>
  // Documents come as texts: the drivers disagree about arrays of them.
  valueTypes[column] === 'jsonb' ? `$${column}::text[]::jsonb[]` : `$${column}::${valueTypes[column]}[]`,
);

/** Beside them, which of the values stay as they are: names of columns of `input`, and their parameters. */
export const keepColumnList = columnList(keptColumns.map(keepName));
export const keepArrayParameters = columnList(keptColumns, (_, column) => `$${keepName(column)}::boolean[]`);

/** Sets each column of an entry `w` to its parameter: `"referenceId" = $referenceId::text`. */
export const valueAssignments = columnList(valueColumns, (quoted, column) => {
  const value = `$${column}::${valueTypes[column]}`;
  return isKept(column)
    ? `${quoted} = CASE WHEN $${keepName(column)}::boolean THEN w.${quoted} ELSE ${value} END`
    : `${quoted} = ${value}`;
});

/** The value of a column that an import gives to the entry `w` in the way of a row of `input`. */
const mergedValue = (quoted: string, column: string) =>
  isKept(column)
    ? `CASE WHEN excluded.id IN (SELECT "newId" FROM input WHERE "${keepName(column)}") THEN w.${quoted} ELSE excluded.${quoted} END`
    : `excluded.${quoted}`;

/** Sets each column that an import may change: `"referenceId" = excluded."referenceId"`. */
export const mergedAssignments = columnList(
  mergedColumns,
  (quoted, column) => `${quoted} = ${mergedValue(quoted, column)}`,
);

/** The condition that an import changes the entry `w`. */
export const isMergeChange = `(${columnList(mergedColumns, (quoted) => `w.${quoted}`)})
  IS DISTINCT FROM (${columnList(mergedColumns, mergedValue)})`;

/** The columns of the plate, of a table by its alias if there is one. */
export const plateColumnList = (alias?: string) =>
  columnList(plateColumns, (quoted) => (alias ? `${alias}.${quoted}` : quoted));

/** The condition that two tables have the same plate. */
export const samePlate = (one: string, other: string) =>
  `(${plateColumnList(one)}) = (${plateColumnList(other)})`;

/** A value as a parameter: documents are texts, and what is not said is null. */
function parameterOf(values: WhitelistEntryValues, column: keyof WhitelistEntryValues) {
  const value = values[column] ?? null;
  return valueTypes[column] === 'jsonb' && value !== null ? JSON.stringify(value) : value;
}

/** The parameters of one entry. */
export const valuesOf = (values: WhitelistEntryValues): Record<string, unknown> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, parameterOf(values, column)]),
    ...keptColumns.map((column) => [keepName(column), values[column] === undefined]),
  ]);

/** The parameters of many entries: for each column an array of its values. */
export const valueArrays = (entries: readonly WhitelistEntryValues[]): Record<string, unknown[]> =>
  Object.fromEntries([
    ...valueColumns.map((column) => [column, entries.map((entry) => parameterOf(entry, column))]),
    ...keptColumns.map((column) => [keepName(column), entries.map((entry) => entry[column] === undefined)]),
  ]);
