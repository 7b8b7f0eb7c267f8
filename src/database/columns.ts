import type { JsonShape } from '../paging.ts';

/**
 * Writes a list of columns in SQL, separated by commas. `render` writes one column from its quoted name and its plain
 * name.
 */
export function columnList<Column extends string>(
  columns: readonly Column[],
  render: (quoted: string, column: Column) => string = (quoted) => quoted,
): string {
  return columns.map((column) => render(`"${column}"`, column)).join(', ');
}

/**
 * Writes the columns of a model for the result of a statement. Statements name their columns instead of selecting `*`,
 * because a prepared `SELECT *` fails in a running process when a migration of a newer version adds a column.
 *
 * @param fields the scalar fields of a model, as Prisma lists them (`Prisma.LocationScalarFieldEnum`)
 * @param alias the table's name in the statement
 */
export function modelColumns(fields: Readonly<Record<string, string>>, alias: string): string {
  return columnList(Object.keys(fields), (quoted) => `${alias}.${quoted}`);
}

/** Writes SQL for an instant as text in the form of the API: `2026-01-31T08:00:00.000Z`. */
const apiInstant = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Writes SQL that returns columns of a row as the text of a JSON object, equal to the output of JSON.stringify.
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
 * Writes SQL that returns a row as jsonb for audit records. Instants have the form of the API, because `to_jsonb` would
 * write them with `+00:00`.
 */
export function rowAsJson(alias: string, instants: readonly string[]): string {
  const pairs = columnList(instants, (quoted, column) => `'${column}', ${apiInstant(`${alias}.${quoted}`)}`);
  return `to_jsonb(${alias}) || jsonb_build_object(${pairs})`;
}
