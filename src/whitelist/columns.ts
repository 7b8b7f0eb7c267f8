import { Prisma, type WhitelistEntry } from '../../prisma/generated/client/client.ts';
import { columnList, modelColumns, rowAsJson } from '../database/columns.ts';

// What is known of the columns of an entry: SQL, parameters and types follow from the model in schema.prisma and
// from `valueTypes`.

/** What a client writes of an entry. */
export type WhitelistEntryValues = Omit<
  WhitelistEntry,
  'id' | 'locationId' | 'version' | 'createdAt' | 'updatedAt'
>;

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
} as const satisfies Record<keyof WhitelistEntryValues, 'text' | 'timestamptz'>;

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

/** An entry as jsonb for an audit record, without the number of the transaction that changed it. */
export const entryAsJson = (alias: string) => `(${rowAsJson(alias, instantColumns)}) - 'changedIn'`;

/** The columns that a client writes: `"referenceId", "plateType"`. */
export const valueColumnList = columnList(valueColumns);

/** The same of a table by its alias: `i."referenceId", i."plateType"`. */
export const valueColumnsOf = (alias: string) => columnList(valueColumns, (quoted) => `${alias}.${quoted}`);

/** Their parameters in a statement about one entry: `$referenceId::text, $plateType::text`. */
export const valueParameters = columnList(valueColumns, (_, column) => `$${column}::${valueTypes[column]}`);

/** Their parameters in a statement about many entries: `$referenceId::text[], $plateType::text[]`. */
export const valueArrayParameters = columnList(
  valueColumns,
  (_, column) => `$${column}::${valueTypes[column]}[]`,
);

/** Sets each to its parameter: `"referenceId" = $referenceId::text`. */
export const valueAssignments = columnList(
  valueColumns,
  (quoted, column) => `${quoted} = $${column}::${valueTypes[column]}`,
);

/** Sets each that an import may change to that of the row in the way: `"referenceId" = excluded."referenceId"`. */
export const mergedAssignments = columnList(mergedColumns, (quoted) => `${quoted} = excluded.${quoted}`);

/** The same columns of a table by its alias, to compare. */
export const mergedColumnsOf = (alias: string) => columnList(mergedColumns, (quoted) => `${alias}.${quoted}`);

/** The columns of the plate, of a table by its alias if there is one. */
export const plateColumnList = (alias?: string) =>
  columnList(plateColumns, (quoted) => (alias ? `${alias}.${quoted}` : quoted));

/** The condition that two tables have the same plate. */
export const samePlate = (one: string, other: string) =>
  `(${plateColumnList(one)}) = (${plateColumnList(other)})`;

/** The parameters of many entries: for each column an array of its values. */
export function valueArrays(entries: readonly WhitelistEntryValues[]) {
  return Object.fromEntries(valueColumns.map((column) => [column, entries.map((entry) => entry[column])]));
}
