import type { JsonShape } from '../paging.ts';

/**
 * Returns SQL that lists columns, separated by commas. `columnList` calls `render` to get the SQL for one column. The
 * first argument of `render` is the column name in quotes, and its second argument is the column name without quotes.
 */
export function columnList<Column extends string>(
  columns: readonly Column[],
  render: (quoted: string, column: Column) => string = (quoted) => quoted,
): string {
  return columns.map((column) => render(`"${column}"`, column)).join(', ');
}

/**
 * Returns SQL that lists the columns of a Prisma model. The SQL statements of the gateway list all columns by name
 * instead of using `SELECT *`. When a new gateway version adds a column to a table, prepared `SELECT *` statements fail
 * in processes that still run the old version.
 *
 * @param fields the scalar fields of a model, as Prisma lists them (`Prisma.LocationScalarFieldEnum`)
 * @param alias the alias of the table in the SQL statement
 */
export function modelColumns(fields: Readonly<Record<string, string>>, alias: string): string {
  return columnList(Object.keys(fields), (quoted) => `${alias}.${quoted}`);
}

/**
 * Converts rows to SQL parameters. Each parameter is an array that contains the values of one column for all rows.
 */
export const columnArrays = <Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, unknown>>[],
): Record<string, unknown[]> =>
  Object.fromEntries(columns.map((column) => [column, rows.map((row) => row[column])]));

/**
 * Returns SQL that inserts rows into a table, and replaces stored rows that have the same ids. The SQL parameters are
 * the arrays that `columnArrays` returns for the columns in `types`.
 *
 * @param types the type of each column in PostgreSQL. The name of an enum type is in quotes, and the gateway sends the
 *   values of an enum type as text
 */
export function upsertRows(table: string, types: Readonly<Record<string, string>>): string {
  const columns = Object.keys(types);
  const arrays = Object.entries(types).map(([column, type]) =>
    type.startsWith('"') ? `$${column}::text[]::${type}[]` : `$${column}::${type}[]`,
  );
  return `INSERT INTO "${table}" (${columnList(columns)})
  SELECT * FROM unnest(${arrays.join(', ')})
  ON CONFLICT (id) DO UPDATE SET ${columnList(columns, (quoted) => `${quoted} = excluded.${quoted}`)}`;
}

/** Returns SQL that converts an instant (a point in time) to the text format of the API: `2026-01-31T08:00:00.000Z`. */
const apiInstant = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Returns SQL that converts columns of a row to the text of a JSON object, exactly as JSON.stringify would write it.
 *
 * @param instants the names of the columns that contain instants
 */
export function columnsAsJson(alias: string, shape: JsonShape, instants: readonly string[]): string {
  const columns = shape.map(({ name, column }) => {
    const value = `${alias}."${column}"`;
    return `${instants.includes(column) ? apiInstant(value) : value} AS "${name}"`;
  });
  return `(SELECT row_to_json(shown)::text FROM (SELECT ${columns.join(', ')}) shown)`;
}

/**
 * Returns SQL that converts a row to jsonb for audit records. The SQL also converts instants to the text format of the
 * API (`…Z`), because `to_jsonb` writes instants with `+00:00`.
 */
export function rowAsJson(alias: string, instants: readonly string[]): string {
  const pairs = columnList(instants, (quoted, column) => `'${column}', ${apiInstant(`${alias}.${quoted}`)}`);
  return `to_jsonb(${alias}) || jsonb_build_object(${pairs})`;
}
