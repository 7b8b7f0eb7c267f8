import { namedStatement } from './named-statement.ts';

/**
 * If PostgreSQL stores a JSON value uncompressed, the value counts as small up to this size, in bytes. One SQL
 * statement reads the small JSON values of several rows, but each large JSON value needs a separate SQL statement.
 */
const smallStoredBytes = 16 * 1024;
/**
 * A JSON value that PostgreSQL stores compressed counts as small up to this compressed size, in bytes. The uncompressed
 * value can be ninety times as large as the compressed value.
 */
const smallCompressedBytes = 1024;

/**
 * The maximum size of a JSON value as uncompressed jsonb, in bytes. The gateway does not read the JSON text of a value
 * that is larger than `maxJsonbBytes`. If a value is larger than `maxJsonbBytes`, its JSON text would be too long for
 * any response, or would contain too many values. Each value, such as a string or a number, takes at most about 25
 * bytes more as jsonb than as JSON text.
 */
const maxJsonbBytes = 12 * 1024 * 1024;

/**
 * Creates the SQL statements that read a JSON column whose values can be large.
 *
 * @param table the name of a table that has a column `id`
 * @param column the name of the column, which must have the type jsonb
 */
export const createLargeValueStatements = (table: string, column: string) => ({
  /**
   * Reads the JSON values of several rows if these values are small. If a JSON value is large, the result contains null
   * instead of the JSON text of this value.
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
   * PostgreSQL could convert one JSON value to text more than once. The expression `#> '{}'` decompresses the stored
   * JSON value, so that `pg_column_size` returns the uncompressed size.
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
