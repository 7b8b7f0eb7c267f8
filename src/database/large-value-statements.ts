import { namedStatement } from './named-statement.ts';

/**
 * The maximum size of a small value in bytes, when PostgreSQL stores the value uncompressed. One SQL statement reads
 * the small values of several rows, but a large value needs an SQL statement of its own.
 */
const smallStoredBytes = 16 * 1024;
/**
 * The maximum compressed size of a small value, in bytes, when PostgreSQL compresses the value. Before compression, a
 * value can be up to ninety times larger than after compression.
 */
const smallCompressedBytes = 1024;

/**
 * The maximum size of a value as uncompressed jsonb, in bytes. If a value is larger than `maxJsonbBytes`, the gateway
 * does not read its JSON text, because the text would be too large for any response. A jsonb value can be longer than
 * its JSON text, by at most about 25 bytes for each JSON value (such as a string or number) in it.
 */
const maxJsonbBytes = 12 * 1024 * 1024;

/**
 * Creates the SQL statements that read a JSON column with large values.
 *
 * @param table the name of a table that has a column `id`
 * @param column the name of the column, which must have the type jsonb
 */
export const createLargeValueStatements = (table: string, column: string) => ({
  /** Reads the small values of several rows. If a value is not small, its text in the result is null. */
  smallValues: namedStatement(
    `${table}-${column}-small`,
    `SELECT id, CASE WHEN pg_column_size("${column}")
        <= CASE WHEN pg_column_compression("${column}") IS NULL THEN ${smallStoredBytes} ELSE ${smallCompressedBytes} END
        THEN "${column}"::text END AS text
      FROM "${table}" WHERE id = ANY($ids::text[]) AND "${column}" IS NOT NULL`,
  ),

  /** Reads the value of one row, even if the value is very large. */
  wholeValue: namedStatement(
    `${table}-${column}-large`,
    `SELECT "${column}"::text AS text FROM "${table}" WHERE id = $id`,
  ),

  /**
   * Reads the value of one row, but returns null if the value is too large. Without `OFFSET 0`, PostgreSQL could
   * create the JSON text of a value more than once. The operator `#>` with an empty path returns the uncompressed
   * value.
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
