import type { JsonShape } from '../paging.ts';

/**
 * Returns a list of columns in SQL, separated by commas. `render` returns the SQL for one column; its arguments are the
 * quoted and the plain name.
 */
export function columnList<Column extends string>(
  columns: readonly Column[],
  render: (quoted: string, column: Column) => string = (quoted) => quoted,
): string {
  return columns.map((column) => render(`"${column}"`, column)).join(', ');
}

/**
 * Returns the columns of a Prisma model for the result of an SQL statement. Statements do not use `SELECT *`. If a
 * newer version adds a column by a migration, a prepared `SELECT *` would fail in processes that are still running.
 *
 * @param fields the scalar fields of a model, as Prisma lists them (`Prisma.LocationScalarFieldEnum`)
 * @param alias the table's name in the statement
 */
export function modelColumns(fields: Readonly<Record<string, string>>, alias: string): string {
  return columnList(Object.keys(fields), (quoted) => `${alias}.${quoted}`);
}

/** Returns SQL for an instant as text in the form that the API uses: `2026-01-31T08:00:00.000Z`. */
const apiInstant = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Returns SQL that converts columns of a row to the text of a JSON object. The text equals the output of
 * JSON.stringify.
 *
 * @param instants which columns are instants
 */
export function columnsAsJson(alias: string, shape: JsonShape, instants: readonly string[]): string {
  const columns = shape.map(({ name, column }) => {
    const value = `${alias}."${column}"`;
    return `${instants.includes(column) ? apiInstant(value) : value} AS "${name}"`;
  });
  return `(SELECT row_to_json(shown)::text FROM (SELECT ${columns.join(', ')}) shown)`;
}

/**
 * Returns SQL that converts a row to jsonb for audit records. Instants have the form that the API uses, because
 * `to_jsonb` alone would write them with `+00:00`.
 */
export function rowAsJson(alias: string, instants: readonly string[]): string {
  const pairs = columnList(instants, (quoted, column) => `'${column}', ${apiInstant(`${alias}.${quoted}`)}`);
  return `to_jsonb(${alias}) || jsonb_build_object(${pairs})`;
}
