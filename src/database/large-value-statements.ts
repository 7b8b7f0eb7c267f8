import { namedStatement } from './named-statement.ts';

/**
 * A JSON value that PostgreSQL stores uncompressed counts as small up to this size, in bytes. One SQL statement reads
 * the small JSON values of several rows, but each large JSON value needs a separate SQL statement.
 */
const smallStoredBytes = 16 * 1024;
/**
 * A JSON value that PostgreSQL stores compressed counts as small up to this compressed size, in bytes. The uncompressed
 * value can be ninety times as large as the compressed value.
 */
const smallCompressedBytes = 1024;

/**
 * The maximum size of a JSON value as uncompressed jsonb, in bytes. The gateway does not read the JSON text of a value
 * that is larger than `maxJsonbBytes`. Such a text would be too long, or would contain too many values, for any
 * response. Each value, such as a string or a number, takes at most about 25 bytes more as jsonb than as JSON text.
 */
const maxJsonbBytes = 12 * 1024 * 1024;

/**
 * Creates the SQL statements that read a JSON column with large values.
 *
 * @param table the name of a table that has a column `id`
 * @param column the name of the column, which must have the type jsonb
 */
export const createLargeValueStatements = (table: string, column: string) => ({
  /**
   * Reads the small JSON values of several rows. For a large JSON value, the result contains null instead of the text.
   */
  smallValues: namedStatement(
    `${table}-${column}-small`,
    `SELECT id, CASE WHEN pg_column_size("${column}")
        <= CASE WHEN pg_column_compression("${column}") IS NULL THEN ${smallStoredBytes} ELSE ${smallCompressedBytes} END
        THEN "${column}"::text END AS text
      FROM "${table}" WHERE id = ANY($ids::text[]) AND "${column}" IS NOT NULL`,
  ),

  /** Reads the JSON value of one row, even if the value is very large. */
  wholeValue: namedStatement(
    `${table}-${column}-large`,
    `SELECT "${column}"::text AS text FROM "${table}" WHERE id = $id`,
  ),

  /**
   * Reads the JSON value of one row, but returns null if the value is too large for the response. Without `OFFSET 0`,
   * PostgreSQL could create the JSON text of a value more than once. The expression `#> '{}'` uncompresses the value,
   * so that `pg_column_size` returns the uncompressed size.
   */
  boundedValue: namedStatement(
    `${table}-${column}-bounded`,
    `SELECT CASE WHEN length(v.text) <= $mostCharacters::int THEN v.text END AS text
      FROM (
        SELECT CASE WHEN pg_column_size("${column}" #> '{}') <= ${maxJsonbBytes} THEN "${column}"::text END AS text
        FROM "${table}" WHERE id = $id OFFSET 0
      ) v`,
  ),
});
